//! Encodes and decodes the domain types. This encoding is part of version 1 of every artifact that contains
//! these types.

use cairn_domain as domain;
use cairn_domain::Outcome;

use crate::codec::{Decode, DecodeError, Encode, Reader, enumeration, newtype, record};

newtype!(
    domain::Key128,
    domain::ChunkKey,
    domain::NodeKey,
    domain::EdgeKey,
    domain::PatternKey,
    domain::RepositoryId,
    domain::FactsKey,
    domain::BlobId,
    domain::ContentHash,
    domain::Digest,
    domain::GenerationId,
);

impl Encode for domain::RepoPath {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_str().encode(out);
    }
}

impl Decode for domain::RepoPath {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let text = String::decode(reader)?;
        domain::RepoPath::parse(&text).or_else(|_| reader.fail("a path"))
    }
}

/// Writes the text of the code, so that versions of Cairn that do not have this code can read it.
impl Encode for domain::FailureCode {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_str().encode(out);
    }
}

impl Decode for domain::FailureCode {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(domain::FailureCode::of_stored(&String::decode(reader)?))
    }
}

enumeration!(domain::EntryKind { File = 0, Executable = 1, Symlink = 2, Submodule = 3 });
enumeration!(domain::Reason {
    Excluded = 0,
    NotIncluded = 1,
    TooLarge = 2,
    Binary = 3,
    Sensitive = 4,
    Generated = 5,
    Submodule = 6,
    Symlink = 7,
    Unreadable = 8,
    NotUtf8 = 9,
    NoParser = 10,
    ParseTimeout = 11,
    ParseCrash = 12,
});
enumeration!(domain::SymbolKind {
    Function = 0,
    Method = 1,
    Class = 2,
    Interface = 3,
    Trait = 4,
    Struct = 5,
    Enum = 6,
    Type = 7,
    Constant = 8,
    Variable = 9,
    Module = 10,
    Macro = 11,
    Field = 12,
});
enumeration!(domain::Visibility { Public = 0, Protected = 1, Internal = 2, Private = 3 });
enumeration!(domain::ReferenceKind {
    Call = 0,
    Instantiate = 1,
    Extend = 2,
    Implement = 3,
    TypeUse = 4,
    Decorate = 5,
    Value = 6,
});
enumeration!(domain::BindingEvidence { Constructor = 0, Annotation = 1, Opaque = 2 });
enumeration!(domain::ChunkKind {
    Function = 0,
    Method = 1,
    Class = 2,
    Group = 3,
    Summary = 4,
    Section = 5,
    Config = 6,
    Text = 7,
    Navigation = 8,
    Pattern = 9,
});
enumeration!(domain::ParseStatus {
    Parsed = 0,
    Partial = 1,
    NoParser = 2,
    Unparsable = 3,
    Guarded = 4,
    Timeout = 5,
    Crash = 6,
});
enumeration!(domain::NodeKind {
    Repository = 0,
    Module = 1,
    File = 2,
    Symbol = 3,
    Package = 4,
    Section = 5,
    Pattern = 6,
});
enumeration!(domain::EdgeKind {
    Contains = 0,
    Defines = 1,
    Calls = 2,
    Extends = 3,
    Implements = 4,
    Imports = 5,
    References = 6,
    DependsOn = 7,
    Describes = 8,
    Mentions = 9,
    EntryPoint = 10,
    Follows = 11,
});
enumeration!(domain::Resolution { Exact = 0, Import = 1, Heuristic = 2, Ambiguous = 3 });
enumeration!(domain::Unresolved {
    External = 0,
    Builtin = 1,
    NoDefinition = 2,
    UnknownReceiver = 3,
    Dynamic = 4,
});
enumeration!(domain::Ecosystem { Pypi = 0, Npm = 1, Go = 2, Cargo = 3, Maven = 4, Composer = 5, Nuget = 6 });
enumeration!(domain::StageName {
    Sync = 0,
    Parse = 1,
    Embed = 2,
    Retire = 3,
    Link = 4,
    Aggregate = 5,
    EmbedPatterns = 6,
    Publish = 7,
    Sweep = 8,
});

impl Encode for Outcome {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Outcome::Indexed(reason) => {
                out.push(0);
                reason.encode(out);
            }
            Outcome::Skipped(reason) => {
                out.push(1);
                reason.encode(out);
            }
            Outcome::Failed { reason, message } => {
                out.push(2);
                reason.encode(out);
                message.encode(out);
            }
        }
    }
}

impl Decode for Outcome {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match reader.take(1, "an outcome")?[0] {
            0 => Ok(Outcome::Indexed(Decode::decode(reader)?)),
            1 => Ok(Outcome::Skipped(Decode::decode(reader)?)),
            2 => Ok(Outcome::Failed { reason: Decode::decode(reader)?, message: Decode::decode(reader)? }),
            _ => reader.fail("an outcome"),
        }
    }
}

record!(domain::ArtifactRef { key, size_bytes, hash });
record!(domain::Slot { artifact, index });
record!(domain::ManifestEntry {
    path,
    kind,
    blob,
    size_bytes,
    outcome,
    language,
    facts_key,
    source,
    num_secrets,
    num_lines,
    low_weight,
    navigation,
    tags,
    changed_at,
    module,
});
record!(domain::SecretFinding { line, rule });
record!(domain::SourceText { facts_key, blob, language, text, secrets });
record!(domain::LineSpan { start, end });
record!(domain::Symbol {
    name,
    qualified_name,
    kind,
    span,
    name_line,
    signature,
    doc,
    decorators,
    parent,
    visibility,
    exported,
    is_test,
});
record!(domain::Reference { kind, name, receiver, enclosing, line, num_arguments });
record!(domain::ImportedName { name, alias });
record!(domain::Import { module, level, names, alias, wildcard, reexport, line, enclosing });
record!(domain::Binding { name, type_name, evidence, scope, line });
record!(domain::ChunkFacts { kind, span, symbol, heading, header, synthetic_text, content_hash, part, is_test });
record!(domain::DocumentSection { heading_path, span });
record!(domain::Mention { text, line });
record!(domain::DocumentFacts { title, description, sections, entry_points, mentions });
record!(domain::FileFacts {
    facts_key,
    language,
    status,
    num_lines,
    symbols,
    references,
    imports,
    bindings,
    chunks,
    document,
    package,
    export_list,
});
record!(domain::NodeRecord {
    key,
    repository,
    kind,
    name,
    qualified_name,
    path,
    span,
    symbol_kind,
    signature,
    doc,
    visibility,
    exported,
    is_test,
    language,
    module_path,
    decorators,
});
record!(domain::EdgeRecord { key, owner, kind, source, target, line, resolution, confidence_percent });
record!(domain::PatternMember { node, path, name, span, extra_methods, missing_methods });
record!(domain::PatternRecord {
    key,
    repository,
    name,
    description,
    shared_methods,
    shared_bases,
    shared_decorators,
    canonical,
    members,
    module_path,
    language,
});
record!(domain::PartId { stage, number });
record!(domain::Arity { min, max });
record!(domain::OutlineSymbol {
    name,
    qualified_name,
    kind,
    ordinal,
    parent,
    span,
    arity,
    exported,
    private,
    secondary,
    is_default,
    is_companion,
    nameless,
    names_holder,
    decorators,
});
record!(domain::OutlineBase { class, name, receiver, implements });
record!(domain::OutlineField { scope, name, type_name });
record!(domain::Outline { language, num_lines, num_chunks, package, symbols, bases, imports, fields });
record!(domain::PackageManifest { ecosystem, path, name, root, dependencies, entries });
