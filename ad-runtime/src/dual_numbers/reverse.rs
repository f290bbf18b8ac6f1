//! Numbers of reverse mode: a value, and the identity of its entry of the tape (DN section 9.3,
//! with the identities of section 6). This module must never hold a rule of differentiation.

use super::forward::Forward;
use super::rules::Number;
use super::tape::{CONSTANT, Identity, Recorder};
use crate::Real;

/// A number of type `T`, and the entry of the tape with its dependence on the arguments of the
/// running call. A constant has none.
#[derive(Clone, Copy, Default)]
pub struct Reverse<T> {
    pub(super) value: T,
    pub(super) position: u32,
    pub(super) generation: u32,
}

#[cfg(feature = "std")]
impl<T: Real> Reverse<T> {
    /// A new argument of the running call.
    pub(super) fn argument(value: T) -> Self {
        Self::of(value, T::with_recorder(|recorder| Some(recorder.argument())))
    }
}

impl<T: Real> Reverse<T> {
    /// The entry of the number.
    #[inline(always)]
    pub(super) fn identity(self) -> Identity {
        Identity { position: self.position, generation: self.generation }
    }

    /// A number with a new identity. There is none if an operand is a number of another call.
    #[inline(always)]
    fn of(value: T, recorded: Option<Identity>) -> Self {
        match recorded {
            Some(Identity { position, generation }) => Reverse { value, position, generation },
            None => left_its_call::<T>(),
        }
    }
}

/// Fails by name, since a number is used where its call does not run.
#[cold]
#[inline(never)]
pub(super) fn left_its_call<T: Real>() -> ! {
    let place = match T::with_recorder(|recorder| recorder.is_idle()) {
        true => "after it, or in another thread",
        false => "in another call or thread",
    };
    panic!(
        "dual numbers: a number of a call of a derivative is used {place}; a function must not keep its numbers (in \
         a static or a thread-local variable), and uses threads by `ad::parallel::join` and `ad::parallel::map` only"
    );
}

impl<T: Real> Number for Reverse<T> {
    type Inner = T;

    #[inline(always)]
    fn constant(value: T) -> Self {
        Reverse { value, position: CONSTANT, generation: 0 }
    }

    #[inline(always)]
    fn primal(self) -> T {
        self.value
    }

    #[inline(always)]
    fn vanishes(self) -> bool {
        self.is_constant() && self.value.vanishes()
    }

    #[inline(always)]
    fn is_constant(self) -> bool {
        self.position == CONSTANT
    }

    #[inline(always)]
    fn shifted(self, value: T) -> Self {
        Reverse { value, ..self }
    }

    #[inline(always)]
    fn unary(self, value: T, partial: impl FnOnce() -> T) -> Self {
        if self.is_constant() {
            return Self::constant(value);
        }
        let partials = [partial(), T::zero()];
        let identity = self.identity();
        Self::of(value, T::with_recorder(|recorder| recorder.record([identity, identity.constant()], partials)))
    }

    #[inline(always)]
    fn binary(self, other: Self, value: T, first: impl FnOnce() -> T, second: impl FnOnce() -> T) -> Self {
        if self.is_constant() {
            return other.unary(value, second);
        }
        if other.is_constant() {
            return self.unary(value, first);
        }
        let partials = [first(), second()];
        let operands = [self.identity(), other.identity()];
        Self::of(value, T::with_recorder(|recorder| recorder.record(operands, partials)))
    }
}

/// A number type whose operations can be recorded. Each type has one recorder in each thread.
///
/// `f32`, `f64` and the numbers of forward mode over them have static recorders; the recorders of
/// other types are found in a list.
pub trait Reversible: Sized + 'static {
    /// Calls `f` with the recorder of the thread. If `f` panics, the recorder may be lost.
    fn with_recorder<R>(f: impl FnOnce(&mut Recorder<Self>) -> R) -> R;

    /// Has the memory of the recorder freed when the thread ends. Each call does it once.
    fn own_recorder() {}

    /// Calls `f` with the recorder for numbers of forward mode over this type.
    fn with_recorder_of_forward<R>(f: impl FnOnce(&mut Recorder<Forward<Self>>) -> R) -> R {
        with_registry(f)
    }
}

/// Calls `f` with the recorder of a type that has no static one.
#[cfg(feature = "std")]
fn with_registry<T: 'static, R>(f: impl FnOnce(&mut Recorder<T>) -> R) -> R {
    use alloc::rc::Rc;
    use alloc::vec::Vec;
    use core::any::{Any, TypeId};
    use core::cell::RefCell;

    type Registry = RefCell<Vec<(TypeId, Rc<dyn Any>)>>;
    std::thread_local! {
        static REGISTRY: Registry = const { RefCell::new(Vec::new()) };
    }
    let of = TypeId::of::<T>();
    let found = REGISTRY.with(|registry| {
        let mut registry = registry.borrow_mut();
        match registry.iter().find(|one| one.0 == of) {
            Some(one) => one.1.clone(),
            None => {
                let new: Rc<dyn Any> = Rc::new(RefCell::new(Recorder::<T>::new()));
                registry.push((of, new.clone()));
                new
            }
        }
    });
    let recorder = found.downcast_ref::<RefCell<Recorder<T>>>();
    f(&mut recorder.unwrap_or_else(|| unreachable!("each type has its own recorder")).borrow_mut())
}

/// Without std no call makes a number with a place on a tape, so no operation is recorded.
#[cfg(not(feature = "std"))]
fn with_registry<T: 'static, R>(_: impl FnOnce(&mut Recorder<T>) -> R) -> R {
    unreachable!("numbers of reverse mode need the feature `std`")
}

/// The static recorder of a number type.
///
/// Each operation takes it out of its variable and puts it back. That way the variable is read by
/// code that is short enough to be part of the operation. For the same reason it has no destructor:
/// another variable, which is used once a call, frees the memory.
#[cfg(feature = "std")]
macro_rules! recorder {
    ($name:ident: $t:ty) => {
        mod $name {
            use alloc::boxed::Box;
            use core::cell::Cell;
            use core::mem::ManuallyDrop;

            #[allow(unused_imports, reason = "not every number type is one of forward mode")]
            use super::{Forward, Recorder};

            type Place = Cell<Option<Box<Recorder<$t>>>>;

            std::thread_local! {
                static RECORDER: ManuallyDrop<Place> = const { ManuallyDrop::new(Cell::new(None)) };
                static OWNER: Owner = const { Owner };
            }

            struct Owner;

            impl Drop for Owner {
                fn drop(&mut self) {
                    drop(RECORDER.with(|place| place.take()));
                }
            }

            #[inline(always)]
            pub(super) fn with<R>(f: impl FnOnce(&mut Recorder<$t>) -> R) -> R {
                let mut recorder = RECORDER.with(|place| place.take()).unwrap_or_else(new);
                let result = f(&mut recorder);
                let recorder = Cell::new(Some(recorder));
                // Its place is empty. Code that would drop what is there would be too long.
                RECORDER.with(|place| core::mem::forget(place.replace(recorder.take())));
                result
            }

            #[cold]
            #[inline(never)]
            fn new() -> Box<Recorder<$t>> {
                Box::new(Recorder::new())
            }

            pub(super) fn owned() {
                // A thread that ends has no owner any more, and its memory stays.
                let _ = OWNER.try_with(|_| {});
            }
        }
    };
}

#[cfg(not(feature = "std"))]
macro_rules! recorder {
    ($name:ident: $t:ty) => {
        mod $name {
            #[allow(unused_imports, reason = "not every number type is one of forward mode")]
            use super::{Forward, Recorder, with_registry};

            pub(super) fn with<R>(f: impl FnOnce(&mut Recorder<$t>) -> R) -> R {
                with_registry::<$t, R>(f)
            }

            pub(super) fn owned() {}
        }
    };
}

macro_rules! recorders {
    ($($t:ident: $own:ident $forward:ident;)*) => {$(
        recorder!($own: $t);
        recorder!($forward: Forward<$t>);

        impl Reversible for $t {
            #[inline(always)]
            fn with_recorder<R>(f: impl FnOnce(&mut Recorder<$t>) -> R) -> R {
                $own::with(f)
            }
            #[inline(always)]
            fn with_recorder_of_forward<R>(f: impl FnOnce(&mut Recorder<Forward<$t>>) -> R) -> R {
                $forward::with(f)
            }
            fn own_recorder() {
                $own::owned();
                $forward::owned();
            }
        }
    )*};
}
recorders! { f32: own_f32 forward_f32; f64: own_f64 forward_f64; }

impl<T: Real> Reversible for Reverse<T> {
    fn with_recorder<R>(f: impl FnOnce(&mut Recorder<Self>) -> R) -> R {
        with_registry(f)
    }
}

impl<T: Real> Reversible for Forward<T> {
    #[inline(always)]
    fn with_recorder<R>(f: impl FnOnce(&mut Recorder<Self>) -> R) -> R {
        T::with_recorder_of_forward(f)
    }
    fn own_recorder() {
        T::own_recorder();
    }
}
