#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| neffload_tests::fuzz::manifest(data));
