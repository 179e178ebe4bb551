//! All static memory of the image, taken once.

use crate::layout;
use core::cell::UnsafeCell;
use core::mem::{MaybeUninit, size_of};
use core::sync::atomic::{AtomicBool, Ordering};
use loader_core::container::{Extent, Layer};
use loader_core::plan::pages::Page;
use neffload_agent::Buffers;
use neuron_drivers::sim::{PlainSim, Slot};

/// What the load needs, apart from arenas and devices: this is what `image.most_static` bounds.
pub struct Working {
    input: [u8; layout::MEMORY_INPUT],
    layers: MaybeUninit<[Layer; layout::MEMORY_GZIP_LAYERS]>,
    names: [u8; 3 * layout::MEMORY_NAME],
    extents: MaybeUninit<[Extent; layout::MEMORY_EXTENTS]>,
    scratch: [u8; layout::MEMORY_SCRATCH],
    pages: MaybeUninit<[Option<Page>; layout::MEMORY_PAGES]>,
    #[cfg(target_os = "linux")]
    real: MaybeUninit<neuron_drivers::neuron::LocalNeuron<'static, neuron_drivers::neuron::Bare>>,
    #[cfg(target_os = "linux")]
    blocks: MaybeUninit<[neuron_drivers::neuron::Block; layout::DEVICE_BLOCKS]>,
}

const _: () = assert!(
    size_of::<Working>() <= layout::IMAGE_MOST_STATIC,
    "the buffers of this layout take more than image.most_static"
);

/// Memory behind one lock that is never given back.
struct Once<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `take` hands the value out at most once, so no two threads have it.
unsafe impl<T> Sync for Once<T> {}

impl<T> Once<T> {
    const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    #[allow(clippy::mut_from_ref, reason = "it is handed out once: the flag says so")]
    fn take(&'static self) -> Option<&'static mut T> {
        let first = !self.taken.swap(true, Ordering::Relaxed);
        // SAFETY: the flag was false, so this is the first and only reference that is ever made.
        first.then(|| unsafe { &mut *self.value.get() })
    }
}

static MEMBERS: Once<[u8; layout::MEMORY_MEMBERS]> = Once::new([0; layout::MEMORY_MEMBERS]);
static ARENA: Once<[u8; layout::MEMORY_ARENA]> = Once::new([0; layout::MEMORY_ARENA]);
static SIMULATED: Once<MaybeUninit<[Slot; layout::DEVICE_BLOCKS]>> = Once::new(MaybeUninit::zeroed());
static SIMULATED_STATE: Once<MaybeUninit<PlainSim<'static>>> = Once::new(MaybeUninit::zeroed());
static WORKING: Once<Working> = Once::new(Working {
    input: [0; layout::MEMORY_INPUT],
    layers: MaybeUninit::zeroed(),
    names: [0; 3 * layout::MEMORY_NAME],
    extents: MaybeUninit::zeroed(),
    scratch: [0; layout::MEMORY_SCRATCH],
    pages: MaybeUninit::zeroed(),
    #[cfg(target_os = "linux")]
    real: MaybeUninit::zeroed(),
    #[cfg(target_os = "linux")]
    blocks: MaybeUninit::zeroed(),
});

/// Fills an array where it lies, element by element.
fn fill<T, const N: usize>(place: &mut MaybeUninit<[T; N]>, make: impl Fn() -> T) -> &mut [T; N] {
    let first = place.as_mut_ptr().cast::<T>();
    for index in 0..N {
        // SAFETY: the index is below the length of the array that the pointer came from.
        unsafe { first.add(index).write(make()) };
    }
    // SAFETY: every element was just written.
    unsafe { place.assume_init_mut() }
}

/// Layers, made where they stay: a value of 43 KiB would lie on the stack first.
fn layers<const N: usize>(place: &mut MaybeUninit<[Layer; N]>) -> &mut [Layer; N] {
    // SAFETY: the pointer is to that one array.
    unsafe { place.as_mut_ptr().write_bytes(0, 1) };
    // SAFETY: all its bytes are zeros now, which is a layer: it and its decoder are numbers, arrays of numbers, and
    // enumerations of whose first variant all parts are such. What they mean does not matter, since a layer forgets
    // everything when a stream begins.
    unsafe { place.assume_init_mut() }
}

/// Everything, taken.
pub struct Taken {
    /// What [`neffload_agent::load`] takes.
    pub buffers: Buffers<'static>,
    /// What devices need.
    pub devices: Devices,
}

/// Memory of the devices. They stand in it while they are used: no frame of the stack should hold one.
pub struct Devices {
    /// The simulated one.
    pub simulated: &'static mut MaybeUninit<PlainSim<'static>>,
    /// Room for its blocks.
    pub slots: &'static mut [Slot],
    /// The real one.
    #[cfg(target_os = "linux")]
    pub real:
        &'static mut MaybeUninit<neuron_drivers::neuron::LocalNeuron<'static, neuron_drivers::neuron::Bare>>,
    /// Room for its blocks.
    #[cfg(target_os = "linux")]
    pub blocks: &'static mut [neuron_drivers::neuron::Block],
}

/// Takes all memory; `None` the second time.
pub fn take() -> Option<Taken> {
    let working = WORKING.take()?;
    let buffers = Buffers {
        members: MEMBERS.take()?,
        arena: ARENA.take()?,
        input: &mut working.input,
        layers: layers(&mut working.layers),
        names: &mut working.names,
        extents: fill(&mut working.extents, Extent::default),
        scratch: &mut working.scratch,
        pages: fill(&mut working.pages, || None),
    };
    let devices = Devices {
        simulated: SIMULATED_STATE.take()?,
        slots: fill(SIMULATED.take()?, || Slot::EMPTY),
        #[cfg(target_os = "linux")]
        real: &mut working.real,
        #[cfg(target_os = "linux")]
        blocks: fill(&mut working.blocks, || neuron_drivers::neuron::Block::EMPTY),
    };
    Some(Taken { buffers, devices })
}
