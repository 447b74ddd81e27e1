//! The store of all collections, which are found by name or by alias.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use anyhow::{Context, Result};
use qdrant_client::qdrant::CreateCollection;
use qdrant_client::qdrant::alias_operations::Action;
use tonic::Status;

use crate::collection::{Collection, locked};
use crate::convert::wrong;
use crate::settings::{self, Aliases};

pub struct Store {
    storage: PathBuf,
    collections: RwLock<BTreeMap<String, Arc<Collection>>>,
    aliases: Mutex<Aliases>,
    /// Locked while a collection is created or deleted, so that only one such change happens at a time.
    changing: Mutex<()>,
}

impl Store {
    pub fn open(storage: &Path) -> Result<Self> {
        let folders = storage.join("collections");
        fs::create_dir_all(&folders).with_context(|| format!("cannot make {}", folders.display()))?;
        let mut collections = BTreeMap::new();
        for entry in fs::read_dir(&folders)? {
            let directory = entry?.path();
            match settings::read(&directory)? {
                None => fs::remove_dir_all(&directory)?,
                Some(settings) => {
                    let name = settings.collection_name.clone();
                    let collection = Collection::open(&directory, settings);
                    collections.insert(name.clone(), collection.with_context(|| format!("collection {name}"))?);
                }
            }
        }
        Ok(Self {
            aliases: Mutex::new(settings::read_aliases(storage)?),
            storage: storage.to_owned(),
            collections: RwLock::new(collections),
            changing: Mutex::new(()),
        })
    }

    /// Returns the collection with this name or alias.
    pub fn get(&self, name: &str) -> Result<Arc<Collection>, Status> {
        self.find(name).ok_or_else(|| Status::not_found(format!("Not found: Collection `{name}` doesn't exist!")))
    }

    pub fn find(&self, name: &str) -> Option<Arc<Collection>> {
        let target = locked(&self.aliases).get(name).cloned();
        let collections = self.collections.read().unwrap_or_else(PoisonError::into_inner);
        collections.get(target.as_deref().unwrap_or(name)).cloned()
    }

    pub fn names(&self) -> Vec<String> {
        self.collections.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    pub fn create(&self, settings: CreateCollection) -> Result<(), Status> {
        let _one_at_a_time = locked(&self.changing);
        let name = settings.collection_name.clone();
        if name.is_empty() {
            return Err(wrong("the collection has no name"));
        }
        if self.find(&name).is_some() {
            return Err(Status::already_exists(format!("Wrong input: Collection `{name}` already exists!")));
        }
        let directory = self.storage.join("collections").join(uuid::Uuid::new_v4().to_string());
        let collection = Collection::create(&directory, settings)?;
        self.collections.write().unwrap_or_else(PoisonError::into_inner).insert(name, collection);
        Ok(())
    }

    /// Deletes a collection. Returns whether the collection existed.
    pub fn delete(&self, name: &str) -> Result<bool, Status> {
        let _one_at_a_time = locked(&self.changing);
        let removed = self.collections.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        let Some(collection) = removed else { return Ok(false) };
        let internal = |error: std::io::Error| Status::internal(error.to_string());
        {
            let mut aliases = locked(&self.aliases);
            aliases.retain(|_, target| target != name);
            settings::write_aliases(&self.storage, &aliases).map_err(internal)?;
        }
        settings::forget(&collection.directory).map_err(internal)?;
        // The engine flushes when it is dropped, so the folder is removed only after the last reader has
        // released the collection. If the process is killed before that, the next start removes the folder.
        std::thread::spawn(move || {
            collection.stop();
            let directory = collection.directory.clone();
            let mut last = Some(collection);
            while let Some(collection) = last.take() {
                match Arc::try_unwrap(collection) {
                    Ok(collection) => drop(collection),
                    Err(shared) => {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        last = Some(shared);
                    }
                }
            }
            if let Err(error) = fs::remove_dir_all(&directory) {
                eprintln!("removing {}: {error}", directory.display());
            }
        });
        Ok(true)
    }

    /// Returns the aliases with their collections.
    pub fn aliases(&self) -> Aliases {
        locked(&self.aliases).clone()
    }

    /// Applies either all actions or none of them.
    pub fn change_aliases(&self, actions: Vec<Action>) -> Result<(), Status> {
        let _one_at_a_time = locked(&self.changing);
        let mut aliases = self.aliases();
        for action in actions {
            match action {
                Action::CreateAlias(create) => {
                    let names = self.names();
                    if !names.contains(&create.collection_name) {
                        let name = create.collection_name;
                        return Err(Status::not_found(format!("Not found: Collection `{name}` doesn't exist!")));
                    }
                    if names.contains(&create.alias_name) {
                        let name = create.alias_name;
                        return Err(Status::already_exists(format!(
                            "Wrong input: Collection `{name}` already exists!"
                        )));
                    }
                    aliases.insert(create.alias_name, create.collection_name);
                }
                Action::RenameAlias(rename) => {
                    let target = aliases.remove(&rename.old_alias_name).ok_or_else(|| {
                        let name = &rename.old_alias_name;
                        Status::not_found(format!("Not found: Alias {name} does not exists!"))
                    })?;
                    aliases.insert(rename.new_alias_name, target);
                }
                Action::DeleteAlias(delete) => drop(aliases.remove(&delete.alias_name)),
            }
        }
        settings::write_aliases(&self.storage, &aliases).map_err(|error| Status::internal(error.to_string()))?;
        *locked(&self.aliases) = aliases;
        Ok(())
    }

    /// Flushes all collections before an orderly end of the process.
    pub fn close(&self) {
        for collection in self.collections.read().unwrap_or_else(PoisonError::into_inner).values() {
            collection.stop();
        }
    }
}
