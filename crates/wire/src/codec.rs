//! Encodes and decodes fields. Numbers are varints, texts and lists begin with their length, and optional
//! values begin with a flag. Fields are encoded in the order in which `record!` lists them. Names and types
//! of fields are not encoded, because the kind and version in the envelope determine them.

use std::fmt;
use std::sync::Arc;

/// The reason why bytes cannot be decoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// Incomplete or damaged bytes: they do not have the format that their envelope states.
    Malformed {
        /// The expected item.
        expected: &'static str,
        /// Position of the fault: the number of bytes between the fault and the end of the input.
        bytes_left: usize,
    },
    /// Another build wrote the artifact, in a version that this build cannot read.
    UnknownVersion {
        /// The kind of the artifact.
        kind: &'static str,
        found: u8,
        /// The newest version that this build reads.
        newest: u8,
    },
    /// The artifact is of a different kind than requested.
    OtherKind { wanted: &'static str, found: u8 },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Malformed { expected, bytes_left } => {
                write!(formatter, "malformed artifact: expected {expected} with {bytes_left} bytes left")
            }
            DecodeError::UnknownVersion { kind, found, newest } => {
                write!(formatter, "version {found} of a {kind} is unknown: this build reads versions up to {newest}")
            }
            DecodeError::OtherKind { wanted, found } => {
                write!(formatter, "expected a {wanted}, found an artifact of kind {found}")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// The input that is not decoded yet.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn fail<T>(&self, expected: &'static str) -> Result<T, DecodeError> {
        Err(DecodeError::Malformed { expected, bytes_left: self.0.len() })
    }

    pub fn take(&mut self, count: usize, expected: &'static str) -> Result<&'a [u8], DecodeError> {
        if count > self.0.len() {
            return self.fail(expected);
        }
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1, "a number")?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        self.fail("a number of at most 64 bits")
    }

    /// Decodes a length. The length must fit in the rest of the input, so that a damaged length cannot cause
    /// a large allocation.
    fn length(&mut self) -> Result<usize, DecodeError> {
        let length = self.varint()?;
        if length > self.0.len() as u64 { self.fail("a length within the input") } else { Ok(length as usize) }
    }
}

pub trait Encode {
    fn encode(&self, out: &mut Vec<u8>);
}

pub trait Decode: Sized {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Encode for $number {
            fn encode(&self, out: &mut Vec<u8>) {
                put_varint(u64::from(*self), out);
            }
        }

        impl Decode for $number {
            fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                let value = reader.varint()?;
                <$number>::try_from(value).or_else(|_| reader.fail(concat!("a number of type ", stringify!($number))))
            }
        }
    )+};
}
numbers!(u8, u16, u32, u64);

impl Encode for i64 {
    fn encode(&self, out: &mut Vec<u8>) {
        put_varint(((*self << 1) ^ (*self >> 63)) as u64, out);
    }
}

impl Decode for i64 {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let value = reader.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

impl Encode for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
}

impl Decode for bool {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match reader.take(1, "a flag")?[0] {
            0 => Ok(false),
            1 => Ok(true),
            _ => reader.fail("a flag of 0 or 1"),
        }
    }
}

impl Encode for str {
    fn encode(&self, out: &mut Vec<u8>) {
        put_varint(self.len() as u64, out);
        out.extend_from_slice(self.as_bytes());
    }
}

impl Encode for String {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_str().encode(out);
    }
}

impl Decode for String {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let length = reader.length()?;
        let bytes = reader.take(length, "a text")?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => reader.fail("a text of UTF-8"),
        }
    }
}

impl<const N: usize> Encode for [u8; N] {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}

impl<const N: usize> Decode for [u8; N] {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(reader.take(N, "a hash")?);
        Ok(bytes)
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, out: &mut Vec<u8>) {
        put_varint(self.len() as u64, out);
        for item in self {
            item.encode(out);
        }
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_slice().encode(out);
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let length = reader.length()?;
        let mut items = Vec::with_capacity(length.min(4096));
        for _ in 0..length {
            items.push(T::decode(reader)?);
        }
        Ok(items)
    }
}

impl<T: Encode> Encode for Arc<[T]> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_ref().encode(out);
    }
}

impl<T: Decode> Decode for Arc<[T]> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Vec::decode(reader).map(Into::into)
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.is_some().encode(out);
        if let Some(value) = self {
            value.encode(out);
        }
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if bool::decode(reader)? { Ok(Some(T::decode(reader)?)) } else { Ok(None) }
    }
}

impl<A: Encode, B: Encode> Encode for (A, B) {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
        self.1.encode(out);
    }
}

impl<A: Decode, B: Decode> Decode for (A, B) {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok((A::decode(reader)?, B::decode(reader)?))
    }
}

/// Implements the codec of a struct. The fields are encoded in the order in which the macro call lists them.
macro_rules! record {
    ($type:path { $($field:ident),+ $(,)? }) => {
        impl $crate::codec::Encode for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                // The pattern names every field, so that the code does not compile if a field is missing.
                type Record = $type;
                let Record { $($field),+ } = self;
                $($crate::codec::Encode::encode($field, out);)+
            }
        }

        impl $crate::codec::Decode for $type {
            fn decode(reader: &mut $crate::codec::Reader<'_>) -> Result<Self, $crate::codec::DecodeError> {
                type Record = $type;
                Ok(Record { $($field: $crate::codec::Decode::decode(reader)?),+ })
            }
        }
    };
}

/// Implements the codec of an enum without fields. Each variant has a number that never changes.
macro_rules! enumeration {
    ($type:path { $($variant:ident = $number:literal),+ $(,)? }) => {
        impl $crate::codec::Encode for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                use $type as T;
                out.push(match self { $(T::$variant => $number),+ });
            }
        }

        impl $crate::codec::Decode for $type {
            fn decode(reader: &mut $crate::codec::Reader<'_>) -> Result<Self, $crate::codec::DecodeError> {
                use $type as T;
                match reader.take(1, stringify!($type))?[0] {
                    $($number => Ok(T::$variant),)+
                    _ => reader.fail(stringify!($type)),
                }
            }
        }
    };
}

/// Implements the codec of a newtype.
macro_rules! newtype {
    ($($type:path),+ $(,)?) => {$(
        impl $crate::codec::Encode for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                $crate::codec::Encode::encode(&self.0, out);
            }
        }

        impl $crate::codec::Decode for $type {
            fn decode(reader: &mut $crate::codec::Reader<'_>) -> Result<Self, $crate::codec::DecodeError> {
                use $type as T;
                Ok(T($crate::codec::Decode::decode(reader)?))
            }
        }
    )+};
}

pub(crate) use {enumeration, newtype, record};
