"""The rules of each language for finding definitions, their names and their documentation with
tree-sitter."""

from dataclasses import dataclass
from functools import cache

import tree_sitter_c
import tree_sitter_cpp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_kotlin
import tree_sitter_lua
import tree_sitter_php
import tree_sitter_python
import tree_sitter_ruby
import tree_sitter_rust
import tree_sitter_scala
import tree_sitter_typescript
from tree_sitter import Language, Parser, Query

JAVASCRIPT_DEFINITIONS = (
    "function_declaration", "method_definition", "class_declaration", "generator_function_declaration", "lexical_declaration",
    "variable_declaration", "expression_statement", "export_statement",
)


@dataclass(frozen=True)
class LanguageRules:
    name: str
    grammar: object
    definitions: tuple[str, ...]
    # The prefixes of comments that are documentation. If empty, any comment directly above a definition is
    # documentation.
    doc_prefixes: tuple[str, ...] = ()
    comments: tuple[str, ...] = ("comment",)

    @property
    def is_javascript(self) -> bool:
        return self.name in ("js", "ts", "tsx")


RULES = {
    rules.name: rules
    for rules in (
        LanguageRules("py", tree_sitter_python.language, ("function_definition", "class_definition")),
        LanguageRules("js", tree_sitter_javascript.language, JAVASCRIPT_DEFINITIONS, ("/**",)),
        LanguageRules("ts", tree_sitter_typescript.language_typescript, JAVASCRIPT_DEFINITIONS, ("/**",)),
        LanguageRules("tsx", tree_sitter_typescript.language_tsx, JAVASCRIPT_DEFINITIONS, ("/**",)),
        LanguageRules("rs", tree_sitter_rust.language, ("function_item", "struct_item", "enum_item", "trait_item"), ("///", "/**"), ("line_comment", "block_comment")),
        LanguageRules("go", tree_sitter_go.language, ("function_declaration", "method_declaration", "type_declaration")),
        LanguageRules("java", tree_sitter_java.language, ("method_declaration", "constructor_declaration", "class_declaration", "interface_declaration", "enum_declaration", "record_declaration"), ("/**",), ("line_comment", "block_comment")),
        LanguageRules("kotlin", tree_sitter_kotlin.language, ("function_declaration", "class_declaration", "object_declaration"), ("/**",), ("line_comment", "block_comment")),
        LanguageRules("scala", tree_sitter_scala.language, ("function_definition", "class_definition", "object_definition", "trait_definition"), ("/**",), ("comment", "block_comment")),
        LanguageRules("c", tree_sitter_c.language, ("function_definition",)),
        LanguageRules("cpp", tree_sitter_cpp.language, ("function_definition", "class_specifier")),
        LanguageRules("php", tree_sitter_php.language_php, ("function_definition", "method_declaration", "class_declaration", "interface_declaration", "trait_declaration"), ("/**",)),
        LanguageRules("ruby", tree_sitter_ruby.language, ("method", "singleton_method", "class", "module")),
        LanguageRules("lua", tree_sitter_lua.language, ("function_declaration",)),
    )
}

EXTENSIONS = {
    ".py": "py", ".js": "js", ".mjs": "js", ".cjs": "js", ".jsx": "js", ".ts": "ts", ".mts": "ts", ".tsx": "tsx", ".rs": "rs", ".go": "go",
    ".java": "java", ".kt": "kotlin", ".scala": "scala", ".c": "c", ".h": "cpp", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
    ".php": "php", ".rb": "ruby", ".lua": "lua",
}


@cache
def parser(name: str) -> Parser:
    return Parser(Language(RULES[name].grammar()))


@cache
def query(name: str) -> Query:
    """Returns a query that captures every definition as `@definition`, comment as `@comment` and Python
    docstring as `@docstring`."""
    rules = RULES[name]
    patterns = [f"({kind}) @definition" for kind in rules.definitions] + [f"({kind}) @comment" for kind in rules.comments]
    if name == "py":
        patterns.append("(block . (expression_statement (string)) @docstring)")
    return Query(Language(rules.grammar()), "\n".join(patterns))
