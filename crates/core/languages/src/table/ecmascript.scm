; The common part of JavaScript and TypeScript.

; --- Definitions

(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
; Components in wrappers: `const Card = memo((props) => …)`.
((variable_declarator name: (identifier) @name
  value: (call_expression arguments: (arguments . [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))) @definition.function
  (#match? @name "^[A-Z]"))
(variable_declarator name: (identifier) @name value: (object) @body) @definition.variable
(variable_declarator name: (identifier) @name) @definition.variable
(arrow_function) @local
(function_expression) @local
(generator_function) @local

(variable_declarator value: (object (pair key: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method))
(export_statement value: (object (pair key: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method))

(assignment_expression left: (member_expression object: (this) @receiver property: (_) @name)) @definition.field

; Default exports without a name
((export_statement value: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]) @definition.function
  (#set! name "default") (#set! exported "true"))
((export_statement value: (class !name body: (_) @body)) @definition.class (#set! name "default") (#set! exported "true"))
((export_statement value: (object)) @definition.variable (#set! name "default") (#set! exported "true"))

(lexical_declaration) @wrapper
(variable_declaration) @wrapper
(export_statement) @export
(expression_statement (assignment_expression)) @wrapper
(comment) @comment
(decorator) @decorator

; --- Names that the file lists as public

(export_statement !source (export_clause (export_specifier name: (_) @export.name alias: (_)? @export.alias)))
(export_statement "default" @export.alias declaration: (_ name: (_) @export.name))
(export_statement "default" @export.alias value: (identifier) @export.name)

; --- Imports

(import_statement source: (string) @import.module) @import
(import_clause (identifier) @import.default)
(namespace_import (identifier) @import.namespace)
(import_specifier name: (_) @import.name)
(import_specifier alias: (_) @import.alias)

(export_statement source: (string) @import.module @reexport) @import
(export_statement "*" @import.wildcard source: (string))
(namespace_export (_) @import.namespace)
(export_specifier name: (_) @import.name)
(export_specifier alias: (_) @import.alias)

(call_expression function: (import) arguments: (arguments . (string) @import.module)) @import
((call_expression function: (identifier) @_require arguments: (arguments . (string) @import.module)) @import
  (#eq? @_require "require"))
((variable_declarator name: (identifier) @import.namespace
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string)))) @import
  (#eq? @_require "require"))
((variable_declarator name: (object_pattern)
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string)))) @import
  (#eq? @_require "require"))
((variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @import.name)
  value: (call_expression function: (identifier) @_require))
  (#eq? @_require "require"))
((variable_declarator name: (object_pattern (pair_pattern key: (_) @import.name value: (identifier) @import.alias))
  value: (call_expression function: (identifier) @_require))
  (#eq? @_require "require"))
(variable_declarator name: (object_pattern) value: (await_expression (call_expression function: (import)))) @import
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @import.name)
  value: (await_expression (call_expression function: (import))))
(variable_declarator name: (object_pattern (pair_pattern key: (_) @import.name value: (identifier) @import.alias))
  value: (await_expression (call_expression function: (import))))
(variable_declarator name: (identifier) @import.namespace value: (await_expression (call_expression function: (import)))) @import
((variable_declarator name: (identifier)
  value: (member_expression object: (call_expression function: (identifier) @_require arguments: (arguments . (string))) property: (_) @import.name)) @import
  (#eq? @_require "require"))

; --- References

(call_expression function: (identifier) @name arguments: (_) @arguments) @reference.call
(call_expression function: (member_expression object: (_) @receiver property: (_) @name) arguments: (_) @arguments) @reference.call
(call_expression function: (super) @name arguments: (_) @arguments) @reference.call
(new_expression constructor: (identifier) @name arguments: (_)? @arguments) @reference.instantiate
(new_expression constructor: (member_expression object: (_) @receiver property: (_) @name) arguments: (_)? @arguments) @reference.instantiate

(decorator (identifier) @reference.decorate)
(decorator (member_expression object: (_) @receiver property: (_) @name) @reference.decorate)
(decorator (call_expression function: (identifier) @reference.decorate))
(decorator (call_expression function: (member_expression object: (_) @receiver property: (_) @name) @reference.decorate))

(arguments (identifier) @reference.value)
(arguments (member_expression object: (_) @receiver property: (_) @name) @reference.value)
(pair value: (identifier) @reference.value)
(pair value: (member_expression object: (_) @receiver property: (_) @name) @reference.value)
(shorthand_property_identifier) @reference.value
(array (identifier) @reference.value)
(assignment_pattern right: (identifier) @reference.value)
(object_assignment_pattern right: (identifier) @reference.value)
(spread_element (identifier) @reference.value)
(variable_declarator value: (identifier) @reference.value)
(assignment_expression right: (identifier) @reference.value)
(return_statement (identifier) @reference.value)
(binary_expression "instanceof" right: (identifier) @reference.type_use)

; --- Evident types

(variable_declarator name: (identifier) @binding.name value: (new_expression constructor: (_) @binding.type)) @binding.constructor
(assignment_expression left: [(identifier) (member_expression)] @binding.name right: (new_expression constructor: (_) @binding.type)) @binding.constructor
(assignment_expression left: (member_expression) @binding.name right: (identifier) @binding.source) @binding.annotation

; --- Parameters and locals that hide outer names

(arrow_function parameter: (identifier) @binding.opaque)
(variable_declarator name: (identifier) @binding.opaque)
(rest_pattern (identifier) @binding.opaque)
(array_pattern (identifier) @binding.opaque)
(assignment_pattern left: (identifier) @binding.opaque)
(pair_pattern value: (identifier) @binding.opaque)
(shorthand_property_identifier_pattern) @binding.opaque
(for_in_statement left: (identifier) @binding.opaque)
(catch_clause parameter: (identifier) @binding.opaque)
