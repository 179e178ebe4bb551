//! What the loader uses of the inflater, without the inflater.
#![no_std]

pub mod inflate {
    /// How a call ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TINFLStatus {
        Failed,
        Done,
        NeedsMoreInput,
        HasMoreOutput,
    }

    pub mod core {
        use super::TINFLStatus;

        pub mod inflate_flags {
            pub const TINFL_FLAG_HAS_MORE_INPUT: u32 = 2;
            pub const TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF: u32 = 4;
        }

        /// Nothing to remember, but as large as the real one.
        pub struct DecompressorOxide([u8; 10_560]);

        impl DecompressorOxide {
            #[allow(clippy::new_without_default, reason = "the loader does not ask for it")]
            pub const fn new() -> Self {
                Self([0; 10_560])
            }

            pub fn init(&mut self) {
                self.0.fill(0);
            }
        }

        /// Passes input on; nobody can know how it ended.
        pub fn decompress_with_limit(
            state: &mut DecompressorOxide,
            input: &[u8],
            out: &mut [u8],
            position: usize,
            most: usize,
            flags: u32,
        ) -> (TINFLStatus, usize, usize) {
            let mut count = 0;
            for (to, from) in out.iter_mut().skip(position).take(most).zip(input) {
                *to = *from;
                count += 1;
            }
            if let Some(first) = state.0.first_mut() {
                *first = first.wrapping_add(flags as u8);
            }
            let ends = [TINFLStatus::Failed, TINFLStatus::Done, TINFLStatus::NeedsMoreInput];
            let end = ends.get(::core::hint::black_box(count) % 4).copied();
            (end.unwrap_or(TINFLStatus::HasMoreOutput), count, count)
        }
    }
}
