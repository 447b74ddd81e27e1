; Scala 2 and 3.

((package_clause name: (_) @package body: (_)? @package.body)
  (#set! nested "true") (#set! dotted "true") (#set! signature "package"))

; --- Definitions

(class_definition (modifiers (access_modifier) @visibility)? name: (_) @name body: (_)? @body) @definition.class
(object_definition (modifiers (access_modifier) @visibility)? name: (_) @name body: (_)? @body) @definition.class
(trait_definition (modifiers (access_modifier) @visibility)? name: (_) @name body: (_)? @body) @definition.trait
(enum_definition (modifiers (access_modifier) @visibility)? name: (_) @name body: (_) @body) @definition.enum
(simple_enum_case name: (_) @name) @definition.constant
(full_enum_case name: (_) @name) @definition.class
(package_object name: (_) @name body: (_)? @body) @definition.module
(type_definition (modifiers (access_modifier) @visibility)? name: (_) @name) @definition.type

; Parameters of a class are fields: public ones of case classes and with `val`, private ones otherwise.
(class_definition "case" (class_parameters
  (class_parameter (modifiers (access_modifier) @visibility)? name: (_) @name) @definition.field))
(class_parameter (modifiers (access_modifier) @visibility)? ["val" "var"] name: (_) @name) @definition.field
(full_enum_case (class_parameters (class_parameter name: (_) @name) @definition.field))
((class_definition (class_parameters (class_parameter name: (_) @name) @definition.field)) (#set! visibility "private"))

(instance_expression (template_body (function_definition name: (_) @name body: (_) @body) @definition.method))
(function_definition (modifiers (access_modifier) @visibility)? name: (_) @name body: (_) @body) @definition.function
(function_declaration (modifiers (access_modifier) @visibility)? name: (_) @name) @definition.function
(val_definition (modifiers (access_modifier) @visibility)? pattern: [(identifier) @name (identifiers (identifier) @name)]) @definition.variable
(var_definition (modifiers (access_modifier) @visibility)? pattern: [(identifier) @name (identifiers (identifier) @name)]) @definition.variable
(val_definition pattern: (identifier) @name value: [
  (block) @body
  (indented_block) @body
  (lambda_expression) @body
  (instance_expression (template_body) @body)]) @definition.variable
(val_declaration (modifiers (access_modifier) @visibility)? name: (_) @name) @definition.variable
(var_declaration (modifiers (access_modifier) @visibility)? name: (_) @name) @definition.variable
(given_definition (modifiers (access_modifier) @visibility)? name: (_) @name body: [(template_body) (with_template_body)] @body) @definition.class
(given_definition (modifiers (access_modifier) @visibility)? name: (_) @name) @definition.variable
; Members of an unnamed definition belong to its type.
(given_definition !name return_type: (_) @owner body: [(template_body) (with_template_body)]) @scope
(extension_definition parameters: (parameters (parameter type: (_) @owner))) @scope

(lambda_expression) @local
; Code in the body of a class.
(template_body [(call_expression) (infix_expression) (match_expression) (if_expression) (for_expression) (block)] @local)

(comment) @comment
(block_comment) @comment
(annotation) @decorator

(type_parameters name: (identifier) @type_parameter)
(covariant_type_parameter name: (identifier) @type_parameter)
(contravariant_type_parameter name: (identifier) @type_parameter)

; --- Imports

(import_declaration [(identifier) (operator_identifier)] @import.part) @import
(import_declaration (namespace_wildcard) @import.wildcard)
(import_declaration (as_renamed_identifier name: (_) @import.part alias: (identifier) @import.alias))
(namespace_selectors (identifier) @import.name)
(namespace_selectors (namespace_wildcard) @import.wildcard)
(namespace_selectors (arrow_renamed_identifier name: (_) @import.name))
(namespace_selectors (arrow_renamed_identifier alias: (identifier) @import.alias))
(namespace_selectors (as_renamed_identifier name: (_) @import.name))
(namespace_selectors (as_renamed_identifier alias: (identifier) @import.alias))

; --- References

(call_expression function: (identifier) @name arguments: (arguments) @arguments) @reference.call
(call_expression function: (identifier) @name arguments: [(block) (case_block)] @argument) @reference.call
(call_expression function: (field_expression value: (_) @receiver field: (_) @name) arguments: (arguments) @arguments) @reference.call
(call_expression function: (field_expression value: (_) @receiver field: (_) @name) arguments: [(block) (case_block)] @argument) @reference.call
(call_expression function: (generic_function function: (identifier) @name) arguments: (arguments) @arguments) @reference.call
(call_expression function: (generic_function function: (identifier) @name) arguments: [(block) (case_block)] @argument) @reference.call
(call_expression function: (generic_function function: (field_expression value: (_) @receiver field: (_) @name)) arguments: (arguments) @arguments) @reference.call
(call_expression function: (generic_function function: (field_expression value: (_) @receiver field: (_) @name)) arguments: [(block) (case_block)] @argument) @reference.call
(infix_expression left: (_) @receiver operator: (identifier) @name right: (_) @argument) @reference.call
(instance_expression [(type_identifier) (generic_type) (stable_type_identifier)] @path arguments: (_)? @arguments) @reference.instantiate
(instance_expression (compound_type base: (_) @path)) @reference.instantiate

(trait_definition (extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @path)) @reference.extend
(extends_clause . type: (_) @path arguments: (_)? @arguments) @reference.extend
(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @path) @reference.implement

(annotation name: (_) @path arguments: (_)? @arguments) @reference.decorate

(type_identifier) @reference.type_use
(stable_type_identifier (_) @receiver (type_identifier) @name .) @reference.type_use
; Objects whose members are used; names in upper case are constants.
((field_expression value: (identifier) @reference.type_use) (#match? @reference.type_use "^[A-Z][A-Za-z0-9]*[a-z]"))
((field_expression value: (identifier) @receiver field: (identifier) @name) @reference.value (#match? @receiver "^[A-Z]"))
(arguments (identifier) @reference.value)

; --- Evident types

(parameter name: (identifier) @binding.name type: (_) @binding.type) @binding.annotation
(class_parameter name: (identifier) @binding.name type: (_) @binding.type) @binding.annotation
(val_definition pattern: (identifier) @binding.name type: (_) @binding.type) @binding.annotation
(var_definition pattern: (identifier) @binding.name type: (_) @binding.type) @binding.annotation
(val_declaration name: (identifier) @binding.name type: (_) @binding.type) @binding.annotation
(val_definition pattern: (identifier) @binding.name value: (instance_expression . [(type_identifier) (generic_type) (stable_type_identifier)] @binding.type)) @binding.constructor
(val_definition pattern: (identifier) @binding.name value: (call_expression function: (identifier) @binding.type)) @binding.constructor
(typed_pattern pattern: (identifier) @binding.name type: (_) @binding.type) @binding.annotation

; --- Parameters and locals that hide outer names

(parameter name: (identifier) @binding.opaque)
(binding name: (identifier) @binding.opaque)
(lambda_expression parameters: (identifier) @binding.opaque)
(val_definition pattern: [(identifier) @binding.opaque (identifiers (identifier) @binding.opaque)])
(var_definition pattern: [(identifier) @binding.opaque (identifiers (identifier) @binding.opaque)])
(capture_pattern name: (identifier) @binding.opaque)
(typed_pattern pattern: (identifier) @binding.opaque)
; A capitalised name in a pattern is a value to compare with.
((case_clause pattern: (identifier) @binding.opaque) (#match? @binding.opaque "^[a-z]"))
((tuple_pattern (identifier) @binding.opaque) (#match? @binding.opaque "^[a-z]"))
((case_class_pattern pattern: (identifier) @binding.opaque) (#match? @binding.opaque "^[a-z]"))
((infix_pattern (identifier) @binding.opaque) (#match? @binding.opaque "^[a-z]"))
((enumerator . (identifier) @binding.opaque) (#match? @binding.opaque "^[a-z]"))
