//! Fields that methods set on their own object, as in `self.name = …`.

use super::collect::RawDefinition;
use super::names::plain_name;
use super::symbols::{Builder, Holder};

impl Builder<'_, '_> {
    /// Returns the region of the class whose method sets a field on its own object. If the method is written
    /// outside of its class, returns the region around the method and the name of the class.
    pub(super) fn holder_of_field(&self, definition: &RawDefinition, around: Option<u32>) -> Option<Holder> {
        if let Some(receiver) = definition.receiver {
            self.row.self_words.iter().find(|word| **word == receiver.text(self.text))?;
        }
        let regions = &self.outline.regions;
        let mut at = around;
        while let Some(index) = at {
            let region = &regions[index as usize];
            let is_container = !region.is_local
                && region
                    .symbol
                    .map_or(region.owner.is_some(), |symbol| self.outline.symbols[symbol as usize].kind.is_container());
            if is_container {
                return Some(Holder { region: Some(index), class: None });
            }
            if region.owner.is_some() {
                return Some(Holder { region: region.parent, class: region.owner.clone() });
            }
            at = region.parent;
        }
        None
    }

    /// Records a field. Returns true if the holder had no field of this name before.
    pub(super) fn is_first_field(&mut self, definition: &RawDefinition, holder: &Holder) -> bool {
        let field = definition.name.map_or("", |range| plain_name(self.row, range.text(self.text)));
        match &holder.class {
            Some(owner) => self.outside_fields.insert((owner.clone(), field)),
            None => self.fields.insert((holder.region.unwrap_or(u32::MAX), field)),
        }
    }
}
