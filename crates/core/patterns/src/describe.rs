//! Describes clusters as pattern records.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{Digester, PatternKey, PatternMember, PatternRecord, RepositoryId, SymbolKind};
use rustc_hash::FxHashMap;

use crate::cluster::clusters;
use crate::join::{Set, neighbours};
use crate::shape::TESTS;
use crate::{PatternSettings, Shape, words};

/// A method belongs to the pattern if at least this percentage of the members have the method.
const SHARED_PERCENT: usize = 80;

/// The patterns among the shapes of a repository, sorted by key. The order of the shapes does not affect the
/// result.
pub fn find_patterns(repository: RepositoryId, shapes: &[Shape], settings: &PatternSettings) -> Vec<PatternRecord> {
    let mut groups: BTreeMap<(&str, Option<SymbolKind>), Vec<&Shape>> = BTreeMap::new();
    for shape in shapes {
        groups.entry((&shape.language, shape.kind)).or_default().push(shape);
    }
    let mut patterns = Vec::new();
    let mut ordinals: BTreeMap<PatternKey, u64> = BTreeMap::new();
    for group in groups.values_mut() {
        group.sort_unstable();
        for (medoid, members) in clusters_of(group, settings) {
            patterns.extend(record(repository, medoid, &members, &mut ordinals));
        }
    }
    patterns.sort_by_key(|pattern| pattern.key);
    patterns
}

/// Clusters the shapes of one kind and language. For each cluster, returns the canonical member, and all
/// members in order of path and line.
fn clusters_of<'s>(shapes: &[&'s Shape], settings: &PatternSettings) -> Vec<(&'s Shape, Vec<&'s Shape>)> {
    let numbers = number_elements(shapes);
    let mut by_set: BTreeMap<Set, Vec<&Shape>> = BTreeMap::new();
    for shape in shapes {
        let mut set: Set = shape.elements().map(|element| numbers[&element]).collect();
        set.sort_unstable();
        by_set.entry(set).or_default().push(shape);
    }
    let (sets, members): (Vec<Set>, Vec<Vec<&Shape>>) = by_set.into_iter().unzip();
    let weights: Vec<usize> = members.iter().map(Vec::len).collect();
    let neighbours = neighbours(&sets, settings.similarity_percent);
    let found = clusters(&neighbours, &weights, settings.min_cluster_size.max(2));
    let with_members = found.into_iter().map(|cluster| {
        let mut all: Vec<&Shape> = cluster.sets.iter().flat_map(|set| members[*set as usize].iter().copied()).collect();
        all.sort_unstable();
        (members[cluster.medoid as usize][0], all)
    });
    with_members.collect()
}

/// Numbers the elements by frequency; the rarest element has the number 0. Equally frequent elements are
/// sorted by text. The order is the same on every machine.
fn number_elements<'s>(shapes: &[&'s Shape]) -> FxHashMap<(u8, &'s str), u32> {
    let mut counts: BTreeMap<(u8, &str), usize> = BTreeMap::new();
    for element in shapes.iter().flat_map(|shape| shape.elements()) {
        *counts.entry(element).or_default() += 1;
    }
    let mut elements: Vec<((u8, &str), usize)> = counts.into_iter().collect();
    elements.sort_by_key(|(element, count)| (*count, *element));
    elements.into_iter().zip(0..).map(|((element, _), number)| (element, number)).collect()
}

fn record(
    repository: RepositoryId,
    medoid: &Shape,
    shapes: &[&Shape],
    ordinals: &mut BTreeMap<PatternKey, u64>,
) -> Option<PatternRecord> {
    let shared_methods = shared(shapes, |shape| &shape.methods);
    if shared_methods.is_empty() {
        return None;
    }
    let shared_bases = shared(shapes, |shape| &shape.bases);
    let shared_decorators = shared(shapes, |shape| &shape.decorators);
    let mut pattern = PatternRecord {
        key: key(repository, medoid, [&shared_methods, &shared_bases, &shared_decorators], ordinals),
        repository,
        name: name(shapes, &shared_bases, &shared_methods),
        description: String::new(),
        canonical: shapes.iter().position(|shape| shape.node == medoid.node)? as u32,
        members: shapes.iter().map(|shape| member(shape, &shared_methods)).collect(),
        module_path: common_module(shapes),
        language: medoid.language.clone(),
        shared_methods,
        shared_bases,
        shared_decorators,
    };
    pattern.description = description(&pattern, medoid);
    Some(pattern)
}

/// The key is a hash of the repository and the shared signature. Patterns with equal signatures get ascending
/// ordinals; the largest pattern has the first ordinal.
fn key(
    repository: RepositoryId,
    medoid: &Shape,
    signature: [&Vec<String>; 3],
    ordinals: &mut BTreeMap<PatternKey, u64>,
) -> PatternKey {
    let kind = medoid.kind.map(SymbolKind::as_str);
    let digester = Digester::new("pattern").key_of(repository.0).text(&medoid.language).option(kind, Digester::text);
    let digester =
        signature.iter().fold(digester, |digester, names| digester.list(names, |digester, name| digester.text(name)));
    let ordinal = ordinals.entry(PatternKey(digester.key())).or_insert(0);
    let key = PatternKey(digester.number(*ordinal).key());
    *ordinal += 1;
    key
}

/// The sorted elements that at least `SHARED_PERCENT` percent of the shapes have.
fn shared(shapes: &[&Shape], of: impl Fn(&Shape) -> &BTreeSet<String>) -> Vec<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for name in shapes.iter().flat_map(|shape| of(shape)) {
        *counts.entry(name).or_default() += 1;
    }
    let is_shared = |count: usize| count * 100 >= shapes.len() * SHARED_PERCENT;
    counts.into_iter().filter(|(_, count)| is_shared(*count)).map(|(name, _)| name.clone()).collect()
}

fn member(shape: &Shape, shared_methods: &[String]) -> PatternMember {
    let is_shared = |name: &&String| shared_methods.binary_search(name).is_ok();
    PatternMember {
        node: shape.node,
        path: shape.path.clone(),
        name: shape.name.clone(),
        span: shape.span,
        extra_methods: shape.methods.iter().filter(|name| !is_shared(name)).cloned().collect(),
        missing_methods: shared_methods.iter().filter(|name| !shape.methods.contains(*name)).cloned().collect(),
    }
}

/// The name of a pattern of test classes whose own names have no common word.
const NAME_OF_TESTS: &str = "Test";

/// The name of a pattern. The first available candidate is used: the common words of the member names, the
/// word at the end or beginning of most names, "Test" for test classes, the first common base, or the common
/// methods.
fn name(shapes: &[&Shape], shared_bases: &[String], shared_methods: &[String]) -> String {
    let names: Vec<&str> = shapes.iter().map(|shape| shape.name.as_str()).collect();
    words::common(&names)
        .or_else(|| words::of_most(&names, SHARED_PERCENT))
        .or_else(|| shared_methods.iter().any(|method| method == TESTS).then(|| NAME_OF_TESTS.to_owned()))
        .or_else(|| shared_bases.first().cloned())
        .unwrap_or_else(|| shared_methods.iter().take(3).cloned().collect::<Vec<_>>().join("/"))
}

fn common_module(shapes: &[&Shape]) -> String {
    let mut paths = shapes.iter().map(|shape| shape.module_path.split('.').collect::<Vec<_>>());
    let first = paths.next().unwrap_or_default();
    let common =
        paths.fold(first.len(), |len, path| first[..len].iter().zip(&path).take_while(|(a, b)| a == b).count());
    first[..common].join(".")
}

fn description(pattern: &PatternRecord, medoid: &Shape) -> String {
    let things = words::plural(medoid.kind.map_or("file", SymbolKind::as_str));
    let place = if pattern.module_path.is_empty() { String::new() } else { format!(" in {}", pattern.module_path) };
    let methods = if medoid.kind.is_some() { "methods" } else { "functions" };
    let mut text = format!(
        "{} {} {things}{place} have the same shape: {methods} {}",
        pattern.members.len(),
        pattern.language,
        pattern.shared_methods.join(", ")
    );
    if !pattern.shared_bases.is_empty() {
        text.push_str(&format!("; base {}", pattern.shared_bases.join(", ")));
    }
    if !pattern.shared_decorators.is_empty() {
        text.push_str(&format!("; decorated with {}", pattern.shared_decorators.join(", ")));
    }
    text.push_str(&format!(". {} ({}) is typical.", medoid.name, medoid.path));
    text
}
