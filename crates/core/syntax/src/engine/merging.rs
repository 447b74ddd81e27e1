//! Removes, adds and sorts the captures of a part of a file.

use super::collect::{
    ByteRange, Raw, RawAttachment, RawBinding, RawDefinition, RawExportName, RawPackage, RawReference,
};

/// Runs the code for each list of captures in `$left`, together with the same list in `$right`.
macro_rules! each_list {
    ($left:expr, $right:expr, |$list:ident, $other:ident| $code:expr) => {
        each_list!(@ $left, $right, $list, $other, $code;
            definitions becomes wrappers references bindings opaque attachments docs imports import_parts
            export_names type_parameters types not_references packages sections item_macros)
    };
    (@ $left:expr, $right:expr, $list:ident, $other:ident, $code:expr; $($field:ident)*) => {
        $({
            let ($list, $other) = (&mut $left.$field, &mut $right.$field);
            $code;
        })*
    };
}

/// A capture with a position.
trait Placed {
    fn start(&self) -> u32;
}

impl Placed for u32 {
    fn start(&self) -> u32 {
        *self
    }
}

impl Placed for ByteRange {
    fn start(&self) -> u32 {
        self.start
    }
}

impl<T> Placed for (ByteRange, T) {
    fn start(&self) -> u32 {
        self.0.start
    }
}

macro_rules! placed {
    ($($name:ident: $field:ident),*) => {
        $(impl Placed for $name {
            fn start(&self) -> u32 {
                self.$field.start
            }
        })*
    };
}

placed!(RawDefinition: range, RawReference: name, RawBinding: name, RawAttachment: range, RawExportName: name,
    RawPackage: name);

impl Raw {
    pub(super) fn clear(&mut self) {
        let mut none = Raw::default();
        each_list!(self, none, |list, _other| list.clear());
    }

    /// Removes the captures that start in the range. A definition that starts before the range and ends in it
    /// is cut, so that definitions are still nested.
    pub(super) fn remove(&mut self, range: ByteRange) {
        let mut none = Raw::default();
        each_list!(self, none, |list, _other| list.retain(|capture| !range.contains(capture.start())));
        for definition in &mut self.definitions {
            if definition.range.start < range.start && range.contains(definition.range.end) {
                definition.range.end = range.start;
            }
        }
    }

    /// Adds captures, and sorts the lists by position.
    pub(super) fn append(&mut self, mut other: Raw) {
        each_list!(self, other, |list, more| {
            list.append(more);
            list.sort_by_key(Placed::start);
        });
    }
}
