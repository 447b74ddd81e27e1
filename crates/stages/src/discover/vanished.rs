//! Finds and deletes repositories that are no longer on the list, or that the rules now exclude.

use cairn_pipeline::StageError;
use cairn_ports::{ErrorKind, RepositoryRecord};

use super::changes::{Absence, Vanished};
use super::decide::{Book, RemoteId};
use super::{Discover, Watched};

impl Discover {
    /// Returns the vanished repositories of an organisation whose list could be read. Deletes these
    /// repositories if the rules allow this. `is_whole` must be true only if the lists of all organisations
    /// of the tenant could be read, because a missing repository may have moved to any of these
    /// organisations.
    pub(super) async fn vanished(
        &self,
        book: &Book,
        watched: &Watched,
        is_whole: bool,
    ) -> Result<Vec<Vanished>, StageError> {
        let organisation = watched.hosting.organisation();
        let missing: Vec<(&RepositoryRecord, RemoteId)> =
            book.of(organisation).filter(|(_, place)| !book.present.contains(place)).collect();
        let are_few = missing.len() <= watched.rules.max_deletions;
        let is_clear = !book.unclear.contains(organisation) && !book.silent.contains(organisation);
        let may_delete = watched.rules.delete_vanished && is_whole && is_clear && are_few;
        let mut vanished = Vec::new();
        for (record, place) in missing {
            let Some(absence) = self.absence(book, watched, &place, are_few).await else { continue };
            let is_deleted = may_delete && !matches!(absence, Absence::Unknown(_));
            if is_deleted {
                self.delete(record).await?;
            }
            vanished.push(Vanished { name: record.name.clone(), absence, is_deleted });
        }
        Ok(vanished)
    }

    /// Returns why the repository is not on the list. `None` if the repository still exists in a watched
    /// organisation: it may be missing because the pages of a list can shift while they are read.
    async fn absence(&self, book: &Book, watched: &Watched, place: &RemoteId, are_few: bool) -> Option<Absence> {
        if let Some(reason) = book.unwanted.get(place) {
            return Some(Absence::Unwanted(reason));
        }
        if !are_few {
            return Some(Absence::Unknown("more repositories are missing than `max_deletions` allows".to_owned()));
        }
        match watched.hosting.whereabouts(&place.1).await {
            Ok(None) => Some(Absence::Gone),
            Ok(Some(path)) if book.is_watched(&place.0, &path) => None,
            Ok(Some(path)) => Some(Absence::Elsewhere(path)),
            Err(error) => Some(Absence::Unknown(StageError::from(error).chain())),
        }
    }

    async fn delete(&self, record: &RepositoryRecord) -> Result<(), StageError> {
        match self.catalogue.delete(record.id, self.clock.now_ms()).await {
            // Another process has already deleted the repository.
            Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
            outcome => Ok(outcome.map(drop)?),
        }
    }
}
