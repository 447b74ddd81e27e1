; Kotlin.

(package_header (qualified_identifier) @package)

; --- Definitions

((class_declaration (modifiers (visibility_modifier) @visibility)? "interface" name: (_) @name (class_body)? @body) @definition.interface
  (#set! members "public"))
(class_declaration (modifiers (visibility_modifier) @visibility)? name: (_) @name (enum_class_body) @body) @definition.enum
(class_declaration (modifiers (visibility_modifier) @visibility)? name: (_) @name (class_body)? @body) @definition.class
(object_declaration (modifiers (visibility_modifier) @visibility)? name: (_) @name (class_body)? @body) @definition.class
; Members of a companion without name are called like members of the class around it.
(companion_object (modifiers (visibility_modifier) @visibility)? name: (_) @name (class_body)? @body) @definition.class
(enum_entry (identifier) @name (class_body)? @body) @definition.constant
(type_alias (modifiers (visibility_modifier) @visibility)? type: (_) @name) @definition.type

(object_literal (class_body (function_declaration (modifiers (visibility_modifier) @visibility)? name: (_) @name (function_body)? @body) @definition.method))
(enum_entry (class_body (function_declaration (modifiers (visibility_modifier) @visibility)? name: (_) @name (function_body)? @body) @definition.method))
; An extension belongs to the type of its receiver.
(function_declaration [(user_type) @owner (nullable_type (user_type) @owner)] . name: (_) @name) @definition.method
(function_declaration (modifiers (visibility_modifier) @visibility)? name: (_) @name (function_body)? @body) @definition.function
(secondary_constructor (modifiers (visibility_modifier) @visibility)? "constructor" @name (block)? @body) @definition.method

(property_declaration (modifiers (property_modifier)) (variable_declaration (identifier) @name)) @definition.constant
(property_declaration [(user_type) @owner (nullable_type (user_type) @owner)] . (variable_declaration (identifier) @name)) @definition.field
(property_declaration (modifiers (visibility_modifier) @visibility)? (variable_declaration (identifier) @name)) @definition.variable
(property_declaration (variable_declaration (identifier) @name) [(getter) (setter) (object_literal) (lambda_literal)] @body) @definition.variable
(class_parameter (modifiers (visibility_modifier) @visibility)? ["val" "var"] . (identifier) @name) @definition.field

(lambda_literal) @local
(anonymous_initializer) @local
(anonymous_function) @local

(line_comment) @comment
(block_comment) @comment
(modifiers (annotation) @decorator)

(type_parameter (identifier) @type_parameter)

; --- Imports

((import (qualified_identifier) @import.path) @import (#not-match? @import "\\*\\s*;?$"))
(import (qualified_identifier) @import.module "*" @import.wildcard) @import
(import (identifier) @import.alias)

; --- References

(call_expression . (identifier) @name (value_arguments) @arguments) @reference.call
(call_expression . (navigation_expression . (_) @receiver (identifier) @name .) (value_arguments) @arguments) @reference.call
; A function behind the parentheses is an argument as well.
(call_expression . (identifier) @name (annotated_lambda) @argument) @reference.call
(call_expression . (navigation_expression . (_) @receiver (identifier) @name .) (annotated_lambda) @argument) @reference.call
(call_expression . (call_expression . (identifier) @name (value_arguments) @arguments) (annotated_lambda) @argument) @reference.call
(call_expression . (call_expression . (navigation_expression . (_) @receiver (identifier) @name .) (value_arguments) @arguments)
  (annotated_lambda) @argument) @reference.call
(infix_expression . (_) @receiver . (identifier) @name . (_) @argument) @reference.call
(constructor_delegation_call ["this" "super"] @name (value_arguments) @arguments) @reference.call
; The grammar reads `load<Order>(id)` as a comparison if it is the last of a block or a value.
(binary_expression left: (binary_expression left: (identifier) @name operator: "<") operator: ">"
  right: [(parenthesized_expression) (lambda_literal)] @argument) @reference.call
(binary_expression left: (binary_expression left: (navigation_expression . (_) @receiver (identifier) @name .) operator: "<") operator: ">"
  right: [(parenthesized_expression) (lambda_literal)] @argument) @reference.call
((binary_expression left: (binary_expression operator: "<" right: (identifier) @reference.type_use) operator: ">"
  right: [(parenthesized_expression) (lambda_literal)]) (#set! capitalized "true"))

(class_declaration "interface" (delegation_specifiers (delegation_specifier (user_type) @path))) @reference.extend
(class_declaration (delegation_specifiers (delegation_specifier (user_type) @path))) @reference.implement
(class_declaration (delegation_specifiers (delegation_specifier (constructor_invocation (user_type) @path (value_arguments) @arguments)))) @reference.extend
(class_declaration (delegation_specifiers (delegation_specifier (explicit_delegation . (user_type) @path)))) @reference.implement
(object_declaration (delegation_specifiers (delegation_specifier (user_type) @path))) @reference.implement
(object_declaration (delegation_specifiers (delegation_specifier (constructor_invocation (user_type) @path (value_arguments) @arguments)))) @reference.extend
(companion_object name: (_) (delegation_specifiers (delegation_specifier (user_type) @path))) @reference.implement
(companion_object name: (_) (delegation_specifiers (delegation_specifier (constructor_invocation (user_type) @path (value_arguments) @arguments)))) @reference.extend
(object_literal (delegation_specifiers (delegation_specifier [
  (user_type) @path
  (constructor_invocation (user_type) @path)]))) @reference.instantiate

(annotation (user_type) @path) @reference.decorate
(annotation (constructor_invocation (user_type) @path (value_arguments) @arguments)) @reference.decorate
(file_annotation (user_type) @path) @reference.decorate
(file_annotation (constructor_invocation (user_type) @path (value_arguments) @arguments)) @reference.decorate

(user_type) @path @reference.type_use
; Classes and objects whose members are used; names in upper case are constants.
((navigation_expression . (identifier) @reference.type_use) (#match? @reference.type_use "^[A-Z][A-Za-z0-9]*[a-z]"))
((navigation_expression . (identifier) @receiver ["." "?."] (identifier) @name .) @reference.value (#match? @receiver "^[A-Z]"))
((navigation_expression . (_) @receiver "::" (identifier) @name .) @reference.value (#not-eq? @name "class"))
(callable_reference (identifier) @reference.value)

; --- Evident types

(parameter (identifier) @binding.name . [(user_type) (nullable_type)] @binding.type) @binding.annotation
(class_parameter (identifier) @binding.name . [(user_type) (nullable_type)] @binding.type) @binding.annotation
(variable_declaration (identifier) @binding.name . [(user_type) (nullable_type)] @binding.type) @binding.annotation
(catch_block (identifier) @binding.name . (user_type) @binding.type) @binding.annotation
(property_declaration (variable_declaration (identifier) @binding.name)
  (call_expression . [(identifier) (navigation_expression)] @binding.type (value_arguments))) @binding.constructor

; --- Parameters and locals that hide outer names

(parameter . (identifier) @binding.opaque)
(variable_declaration (identifier) @binding.opaque)
(catch_block (identifier) @binding.opaque)
