//! The one macro behind every record: fields with their offsets, asserted while compiling.

/// Declares records. Every field states its offset and the record its size; these and the size of every field are
/// compile-time assertions. The same table makes the printer ([`Walk`](super::Walk)).
macro_rules! records {
    ($(
        $(#[$meta:meta])*
        $name:ident: $size:literal {
            $($(#[$doc:meta])* $offset:literal $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[$meta])*
        ///
        #[doc = concat!("Size: ", $size, " bytes. Offsets:")]
        #[doc = ""]
        #[doc = "| offset | field | type |"]
        #[doc = "|---:|---|---|"]
        $(#[doc = concat!("| ", $offset, " | `", stringify!($field), "` | `", stringify!($type), "` |")])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq,
            zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::Unaligned,
        )]
        #[repr(C)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        const _: () = {
            assert!(core::mem::size_of::<$name>() == $size);
            assert!(core::mem::align_of::<$name>() == 1);
            $(assert!(core::mem::offset_of!($name, $field) == $offset);)*
            // Every field has the size that leads to the next one's offset: no byte is left out.
            let mut end = 0usize;
            $(
                assert!(end == $offset);
                end = end.saturating_add(core::mem::size_of::<$type>());
            )*
            assert!(end == $size);
        };

        impl Default for $name {
            /// All bytes zero, as every record starts.
            fn default() -> Self {
                zerocopy::FromZeros::new_zeroed()
            }
        }

        impl $crate::lower::record::Walk for $name {
            fn walk(
                &self,
                at: usize,
                path: &$crate::lower::record::Path<'_>,
                lines: &mut dyn $crate::lower::record::Lines,
            ) -> core::fmt::Result {
                $($crate::lower::record::Walk::walk(
                    &self.$field,
                    at.saturating_add($offset),
                    &path.field(stringify!($field)),
                    lines,
                )?;)*
                Ok(())
            }
        }
    )*};
}
pub(crate) use records;

/// Declares an enumeration that keeps unknown values: a number of the record with names for the known ones.
macro_rules! open_enums {
    ($(
        $(#[$meta:meta])*
        $name:ident($wire:ident, $number:ident) {
            $($(#[$doc:meta])* $value:ident = $code:literal $text:literal,)*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(
            Clone, Copy, PartialEq, Eq, Hash, Default,
            zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::Unaligned,
        )]
        #[repr(transparent)]
        pub struct $name(pub zerocopy::little_endian::$wire);

        impl $name {
            $($(#[$doc])* #[doc = concat!("`", $text, "`, ", $code, ".")]
              pub const $value: Self = Self::new($code);)*

            /// Every known value, in numeric order.
            pub const KNOWN: &'static [Self] = &[$(Self::$value),*];

            /// The value with that number, known or not.
            #[must_use]
            pub const fn new(number: $number) -> Self {
                Self(zerocopy::little_endian::$wire::new(number))
            }

            /// The number.
            #[must_use]
            pub const fn get(self) -> $number {
                self.0.get()
            }

            /// The known name.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0.get() {
                    $($code => Some($text),)*
                    _ => None,
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => write!(f, "{} ({name})", self.get()),
                    None => write!(f, "{} (unknown)", self.get()),
                }
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }

        $crate::lower::record::field::leaf!($name);
    )*};
}
pub(crate) use open_enums;
