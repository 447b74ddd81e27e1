; Rust.

; --- Definitions

(function_item (visibility_modifier)? @visibility name: (_) @name body: (_) @body) @definition.function
(function_signature_item (visibility_modifier)? @visibility name: (_) @name) @definition.function
(struct_item (visibility_modifier)? @visibility name: (_) @name body: (field_declaration_list)? @body) @definition.struct
(union_item (visibility_modifier)? @visibility name: (_) @name body: (_) @body) @definition.struct
(enum_item (visibility_modifier)? @visibility name: (_) @name body: (_) @body) @definition.enum
((enum_variant name: (_) @name) @definition.constant (#set! members "public"))
(trait_item (visibility_modifier)? @visibility name: (_) @name body: (_) @body) @definition.trait
(type_item (visibility_modifier)? @visibility name: (_) @name) @definition.type
(associated_type name: (_) @name) @definition.type
(const_item (visibility_modifier)? @visibility name: (_) @name) @definition.constant
(static_item (visibility_modifier)? @visibility name: (_) @name) @definition.variable
(mod_item (visibility_modifier)? @visibility name: (_) @name body: (_)? @body) @definition.module
((macro_definition name: (_) @name . (macro_rule)? @body) @definition.macro (#set! visibility "internal"))
(field_declaration (visibility_modifier)? @visibility name: (_) @name) @definition.field
(closure_expression) @local

(impl_item !trait type: (_) @owner) @scope
(impl_item trait: (_) type: (_) @owner (#set! members "public")) @scope

[(line_comment) (block_comment)] @comment
(attribute_item) @decorator

(type_parameter name: (type_identifier) @type_parameter)
(const_parameter name: (identifier) @type_parameter)

; --- Imports

(use_declaration) @import
(use_declaration (visibility_modifier) @reexport)
(use_declaration argument: [(identifier) (scoped_identifier) (self) (super) (crate)] @import.path)
(use_list [(identifier) (scoped_identifier) (self) (super) (crate)] @import.path)
(use_as_clause path: (_) @import.path alias: (_) @import.alias)
(use_wildcard) @import.wildcard
(use_wildcard (_) @import.module)
(scoped_use_list path: (_) @import.prefix) @import.group
(extern_crate_declaration name: (_) @import.module) @import
(extern_crate_declaration alias: (_) @import.alias)

; --- References

(call_expression function: (identifier) @name arguments: (_) @arguments) @reference.call
(call_expression function: (field_expression value: (_) @receiver field: (field_identifier) @name) arguments: (_) @arguments) @reference.call
(call_expression function: (scoped_identifier path: (_)? @receiver name: (_) @name) arguments: (_) @arguments) @reference.call
(call_expression function: (generic_function function: (identifier) @name) arguments: (_) @arguments) @reference.call
(call_expression function: (generic_function function: (field_expression value: (_) @receiver field: (field_identifier) @name)) arguments: (_) @arguments) @reference.call
(call_expression function: (generic_function function: (scoped_identifier path: (_)? @receiver name: (_) @name)) arguments: (_) @arguments) @reference.call
(macro_invocation macro: (_) @path) @reference.call
; Macros such as `cfg_feature! { pub trait … }` contain items.
(source_file (macro_invocation (token_tree) @item_macro))
(source_file (expression_statement (macro_invocation (token_tree) @item_macro)))
(declaration_list (macro_invocation (token_tree) @item_macro))
; Calls inside macros are plain tokens. `@name (…)` names a rule of the macro itself.
(token_tree "@" . (identifier) @not_reference)
((token_tree (identifier) @name . (token_tree) @_list) @_tokens @reference.call
  (#set! receiver_before "true") (#match? @_list "^\\("))

(struct_expression name: (_) @path) @reference.instantiate

(impl_item trait: (_) @path) @reference.implement
(trait_item bounds: (trait_bounds (_) @path)) @reference.extend
((attribute_item (attribute (identifier) @_derive arguments: (token_tree (identifier) @reference.implement)))
  (#eq? @_derive "derive") (#set! receiver_before "true"))
(attribute_item (attribute . (_) @path)) @reference.decorate

(type_identifier) @reference.type_use
(scoped_type_identifier path: (_)? @receiver name: (type_identifier) @name) @reference.type_use
((scoped_identifier path: (identifier) @reference.type_use) (#set! capitalized "true"))
(type_binding name: (type_identifier) @not_reference)
(tuple_struct_pattern type: (_) @path) @reference.type_use

(arguments (identifier) @reference.value)
(arguments (scoped_identifier path: (_)? @receiver name: (identifier) @name) @reference.value)
(arguments (reference_expression value: (identifier) @reference.value))
(field_initializer value: (identifier) @reference.value)

; --- Evident types

(parameter pattern: (identifier) @binding.name type: (_) @binding.type) @binding.annotation
(parameter pattern: (mut_pattern (identifier) @binding.name) type: (_) @binding.type) @binding.annotation
(field_declaration name: (_) @binding.name type: (_) @binding.type) @binding.annotation
(let_declaration pattern: (identifier) @binding.name type: (_) @binding.type) @binding.annotation
(static_item name: (_) @binding.name type: (_) @binding.type) @binding.annotation
(const_item name: (_) @binding.name type: (_) @binding.type) @binding.annotation
(let_declaration pattern: (identifier) @binding.name value: (struct_expression name: (_) @binding.type)) @binding.constructor
(let_declaration pattern: (identifier) @binding.name
  value: (call_expression function: (scoped_identifier path: (_) @binding.type name: (_) @binding.function))) @binding.constructor
(let_declaration pattern: (identifier) @binding.name
  value: (try_expression (call_expression function: (scoped_identifier path: (_) @binding.type name: (_) @binding.function)))) @binding.constructor

; --- Parameters and locals that hide outer names

(parameter pattern: (identifier) @binding.opaque)
(closure_parameters (identifier) @binding.opaque)
(let_declaration pattern: (identifier) @binding.opaque)
(for_expression pattern: (identifier) @binding.opaque)
(mut_pattern (identifier) @binding.opaque)
(ref_pattern (identifier) @binding.opaque)
(reference_pattern (identifier) @binding.opaque)
(tuple_pattern (identifier) @binding.opaque)
(slice_pattern (identifier) @binding.opaque)
(tuple_struct_pattern "(" (identifier) @binding.opaque)
(captured_pattern . (identifier) @binding.opaque)
(match_pattern . (identifier) @binding.opaque)
(field_pattern name: (shorthand_field_identifier) @binding.opaque)
(field_pattern pattern: (identifier) @binding.opaque)
