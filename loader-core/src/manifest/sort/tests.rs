#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
extern crate std;
use super::*;
use std::vec;
use std::vec::Vec;

#[test]
fn sorts_every_permutation_of_small_arrays() {
    for seed in 0u32..2000 {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
        let mut slots: Vec<U32> = (0..seed % 40)
            .map(|_| {
                state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                U32::new(state >> 27)
            })
            .collect();
        let mut expected: Vec<u32> = slots.iter().map(|slot| slot.get()).collect();
        expected.sort_unstable();
        heap_sort(&mut slots, |a, b| a.get().cmp(&b.get()));
        assert_eq!(slots.iter().map(|slot| slot.get()).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn equal_keys_keep_their_order() {
    let mut memory = vec![0u8; 4096];
    let mut arena = Arena::new(&mut memory).unwrap();
    let mut place = TailRef::NULL;
    sorted_indices(&mut arena, 10, &mut |_, a, b| (a % 3).cmp(&(b % 3)), &mut place).unwrap();
    let tail = arena.seal_tail();
    let order: Vec<u32> = tail.slice::<U32>(place, 10).unwrap().iter().map(|n| n.get()).collect();
    assert_eq!(order, [0, 3, 6, 9, 1, 4, 7, 2, 5, 8]);
}

#[test]
fn dense_ids_need_no_sort_and_others_are_told_apart() {
    let mut memory = vec![0u8; 4096];
    let mut arena = Arena::new(&mut memory).unwrap();
    let ids =
        |ids: &'static [u32]| move |_: Tail<'_>, at: u32| ids.get(usize::try_from(at).unwrap()).copied();
    let used = arena.tail_used();
    let mut place = TailRef::NULL;
    for other in [&[0u32, 2, 2][..], &[0, 1, 3], &[1, 2, 3]] {
        assert!(!by_dense_id(&mut arena, 3, ids(other), &mut place).unwrap(), "{other:?}");
        assert_eq!(arena.tail_used(), used);
    }
    assert!(by_dense_id(&mut arena, 4, ids(&[2, 0, 3, 1]), &mut place).unwrap());
    assert!(by_dense_id(&mut arena, 0, ids(&[]), &mut TailRef(U32::ZERO)).unwrap());
    let tail = arena.seal_tail();
    let order: Vec<u32> = tail.slice::<U32>(place, 4).unwrap().iter().map(|n| n.get()).collect();
    assert_eq!(order, [1, 3, 0, 2]);
}
