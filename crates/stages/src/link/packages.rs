//! Reads the packages that a repository declares from the texts of its package manifests.

use cairn_domain::{ManifestEntry, PackageManifest};
use cairn_linking::{declares_packages, parse_package_manifest};
use cairn_pipeline::StageError;
use cairn_wire::Manifest;

use crate::artifacts::Artifacts;
use crate::placed::OpenPacks;

/// Returns the packages in the package manifests that `is_read` selects.
pub(crate) async fn read_packages(
    artifacts: &Artifacts,
    manifest: &Manifest,
    is_read: impl Fn(&ManifestEntry) -> bool,
) -> Result<Vec<PackageManifest>, StageError> {
    let declares = |entry: &&ManifestEntry| entry.outcome.is_indexed() && declares_packages(&entry.path);
    let entries: Vec<&ManifestEntry> =
        manifest.entries.iter().filter(declares).filter(|entry| is_read(entry)).collect();
    let mut packs = OpenPacks::default();
    packs.open_texts(artifacts, entries.iter().copied()).await?;
    let mut packages = Vec::new();
    for entry in entries {
        if let Some(source) = packs.text(entry)? {
            packages.extend(parse_package_manifest(&entry.path, &source.text));
        }
    }
    Ok(packages)
}
