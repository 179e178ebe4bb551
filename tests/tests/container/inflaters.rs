//! Images and hosts inflate with different decoders; nobody must be able to tell.

use neffload_tests::container::deflate;
use neffload_tests::inflaters::agree;

/// Numbers without a pattern, from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % end
    }
}

/// Text of one of four kinds: without a pattern, of few letters, of long runs, of words.
fn text(numbers: &mut Numbers, len: usize) -> Vec<u8> {
    let kind = numbers.below(4);
    let byte = |at| match kind {
        0 => numbers.below(256).to_le_bytes()[0],
        1 => numbers.below(7).to_le_bytes()[0],
        2 => usize::to_le_bytes(at / 50)[0],
        _ => b"abracadabra"[numbers.below(11)],
    };
    (0..len).map(byte).collect()
}

#[test]
fn sound_streams_decode_alike_however_they_are_cut() {
    let mut numbers = Numbers(0x5EED);
    for round in 0..120u8 {
        let len = if round % 10 == 0 { 70_000 } else { numbers.below(3000) };
        let text = text(&mut numbers, len);
        let mut stream = deflate(&text, round % 10);
        let end = stream.len();
        stream.extend_from_slice(b"what follows");
        for chunk in [1, 7, 13, 100, stream.len()] {
            let got = agree(&stream, chunk);
            assert_eq!((got.out == text, got.used), (true, Some(end)), "round {round}, pieces of {chunk}");
        }
    }
}

#[test]
fn damaged_streams_decode_alike() {
    let mut numbers = Numbers(0xDA3A6ED);
    let mut refused = 0;
    for round in 0..4000u32 {
        let len = 1 + numbers.below(1000);
        let text = text(&mut numbers, len);
        let mut stream = deflate(&text, u8::try_from(round % 10).unwrap());
        for _ in 0..=numbers.below(3) {
            // Half of them in the codes at the beginning.
            let end = if numbers.below(2) == 0 { stream.len() } else { stream.len().min(60) };
            let at = numbers.below(end);
            stream[at] ^= 1 << numbers.below(8);
        }
        if round % 8 == 0 {
            stream.truncate(numbers.below(stream.len()));
        }
        let chunk = 1 + numbers.below(200);
        let got = agree(&stream, chunk);
        assert_eq!(agree(&stream, stream.len().max(1)), got, "round {round}, pieces of {chunk}");
        refused += u32::from(got.damaged);
    }
    assert!((1000..3000).contains(&refused), "{refused} of 4000 streams were damaged");
}

/// 287 codes for literals and lengths, one more than there are.
#[test]
fn too_many_codes_are_refused_before_anything_is_decoded() {
    let got = agree(&[0xF5, 0, 0, 0], 4);
    assert_eq!((got.out.len(), got.used, got.damaged), (0, None, true));
}

/// A block whose codes have no lengths, and too little behind it to read the lengths of its symbols.
#[test]
fn codes_without_lengths_are_refused_or_waited_for() {
    let data = [0x02, 0x74, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x74, 0x74, 0x74];
    let got = agree(&data, 4);
    assert_eq!((got.out.len(), got.used, got.damaged), (0, None, false));
    let got = agree(&[&data[..], &[0; 40]].concat(), 4);
    assert_eq!((got.out.len(), got.used, got.damaged), (0, None, true));
}
