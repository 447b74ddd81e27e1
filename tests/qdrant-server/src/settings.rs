//! Stores the settings of a collection and the aliases in files, which are replaced by renaming.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use prost::Message;
use qdrant_client::qdrant::CreateCollection;

const SETTINGS: &str = "settings";
const ALIASES: &str = "aliases.json";

pub type Aliases = BTreeMap<String, String>;

pub fn write(directory: &Path, settings: &CreateCollection) -> io::Result<()> {
    replace(directory, SETTINGS, &settings.encode_to_vec())
}

/// Reads the settings of a collection. Returns `None` if the folder contains no collection, or a collection
/// that is being removed.
pub fn read(directory: &Path) -> io::Result<Option<CreateCollection>> {
    match fs::read(directory.join(SETTINGS)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        bytes => CreateCollection::decode(bytes?.as_slice()).map(Some).map_err(io::Error::other),
    }
}

/// Removes the settings, so that the folder is not a collection any more.
pub fn forget(directory: &Path) -> io::Result<()> {
    fs::remove_file(directory.join(SETTINGS))
}

pub fn write_aliases(storage: &Path, aliases: &Aliases) -> io::Result<()> {
    replace(storage, ALIASES, &serde_json::to_vec(aliases)?)
}

pub fn read_aliases(storage: &Path) -> io::Result<Aliases> {
    match fs::read(storage.join(ALIASES)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Aliases::new()),
        bytes => Ok(serde_json::from_slice(&bytes?)?),
    }
}

fn replace(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let temporary = directory.join(format!("{name}.new"));
    fs::write(&temporary, bytes)?;
    fs::rename(temporary, directory.join(name))
}
