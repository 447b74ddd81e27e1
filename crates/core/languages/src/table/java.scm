; Java.

(package_declaration [(identifier) (scoped_identifier)] @package)

; --- Definitions

(class_declaration (modifiers ["public" "protected" "private"] @visibility)? name: (_) @name body: (_) @body) @definition.class
((interface_declaration (modifiers ["public" "protected" "private"] @visibility)? name: (_) @name body: (_) @body) @definition.interface
  (#set! members "public"))
((annotation_type_declaration (modifiers ["public" "protected" "private"] @visibility)? name: (_) @name body: (_) @body) @definition.interface
  (#set! members "public"))
; Constants of an enum are public; its members follow the rules of a class.
((enum_declaration (modifiers ["public" "protected" "private"] @visibility)? name: (_) @name body: (_) @body) @definition.enum
  (#set! members "internal"))
((enum_constant name: (_) @name body: (_)? @body) @definition.constant (#set! visibility "public") (#set! members "internal"))
(record_declaration (modifiers ["public" "protected" "private"] @visibility)? name: (_) @name body: (_) @body) @definition.class
; Components are public.
((record_declaration parameters: (formal_parameters (formal_parameter name: (_) @name) @definition.field))
  (#set! visibility "public"))
(module_declaration name: (_) @name body: (_) @body) @definition.module

(method_declaration (modifiers ["public" "protected" "private"] @visibility)? name: (_) @name body: (_)? @body) @definition.method
; Constructors of an enum are private in any case.
((enum_body_declarations (constructor_declaration name: (_) @name body: (_) @body) @definition.method)
  (#set! visibility "private"))
(constructor_declaration (modifiers ["public" "protected" "private"] @visibility)? name: (_) @name body: (_) @body) @definition.method
(compact_constructor_declaration (modifiers ["public" "protected" "private"] @visibility)? name: (_) @name body: (_) @body) @definition.method
(annotation_type_element_declaration name: (_) @name) @definition.method

(field_declaration (modifiers ["public" "protected" "private"] @visibility)? declarator: (variable_declarator name: (_) @name)) @definition.variable
(field_declaration declarator: (variable_declarator name: (_) @name
  value: [(array_initializer) @body (object_creation_expression (class_body) @body) (lambda_expression body: (block) @body)])) @definition.variable
(constant_declaration declarator: (variable_declarator name: (_) @name)) @definition.constant

(static_initializer) @local
(class_body (block) @local)

(line_comment) @comment
(block_comment) @comment
(modifiers [(marker_annotation) (annotation)] @decorator)

(type_parameter (type_identifier) @type_parameter)

; --- Imports

(import_declaration [(identifier) (scoped_identifier)] @import.path .) @import
(import_declaration [(identifier) (scoped_identifier)] @import.module (asterisk) @import.wildcard) @import
(requires_module_directive module: (_) @import.module) @import

; --- References

(method_invocation !object name: (_) @name arguments: (_) @arguments) @reference.call
; `Outer.this.run()` is a member of the outer class.
(method_invocation object: (field_access object: (_) @receiver field: (this)) name: (_) @name arguments: (_) @arguments) @reference.call
(method_invocation object: (_) @receiver name: (_) @name arguments: (_) @arguments) @reference.call
(explicit_constructor_invocation constructor: (_) @name arguments: (_) @arguments) @reference.call
(object_creation_expression type: (_) @path arguments: (_) @arguments) @reference.instantiate
(method_reference . (_) @receiver (identifier) @name .) @reference.value
(method_reference . (_) @path "new") @reference.instantiate
(array_creation_expression type: (type_identifier) @reference.type_use)

(superclass (_) @path) @reference.extend
(extends_interfaces (type_list (_) @path)) @reference.extend
(super_interfaces (type_list (_) @path)) @reference.implement
(provides_module_directive provider: (_) @path) @reference.type_use
(uses_module_directive type: (_) @path) @reference.type_use

(marker_annotation name: (_) @path) @reference.decorate
(annotation name: (_) @path arguments: (_) @arguments) @reference.decorate

; Parts of a package in front of a type are no types.
((type_identifier) @reference.type_use (#set! capitalized "true"))
((scoped_type_identifier . (_) @receiver (type_identifier) @name .) @reference.type_use (#set! capitalized "true"))
(record_pattern (identifier) @reference.type_use)
; Classes whose static members are used; names in upper case are constants.
((method_invocation object: (identifier) @reference.type_use) (#match? @reference.type_use "^[A-Z][A-Za-z0-9]*[a-z]"))
((field_access object: (identifier) @reference.type_use) (#match? @reference.type_use "^[A-Z][A-Za-z0-9]*[a-z]"))
((method_reference . (identifier) @reference.type_use) (#match? @reference.type_use "^[A-Z][A-Za-z0-9]*[a-z]"))
(field_access object: (identifier) @receiver field: (identifier) @name) @reference.value

; --- Evident types

(formal_parameter type: (_) @binding.type name: (identifier) @binding.name) @binding.annotation
(field_declaration type: (_) @binding.type declarator: (variable_declarator name: (identifier) @binding.name)) @binding.annotation
(constant_declaration type: (_) @binding.type declarator: (variable_declarator name: (identifier) @binding.name)) @binding.annotation
(local_variable_declaration type: (_) @binding.type declarator: (variable_declarator name: (identifier) @binding.name)) @binding.annotation
(variable_declarator name: (identifier) @binding.name value: (object_creation_expression type: (_) @binding.type)) @binding.constructor
(enhanced_for_statement type: (_) @binding.type name: (identifier) @binding.name) @binding.annotation
(catch_formal_parameter (catch_type (_) @binding.type) name: (identifier) @binding.name) @binding.annotation
(resource type: (_) @binding.type name: (identifier) @binding.name) @binding.annotation
(instanceof_expression right: (_) @binding.type name: (identifier) @binding.name) @binding.annotation
(type_pattern (_) @binding.type . (identifier) @binding.name) @binding.annotation
(record_pattern_component (_) @binding.type . (identifier) @binding.name) @binding.annotation

; --- Parameters and locals that hide outer names

(formal_parameter name: (identifier) @binding.opaque)
(spread_parameter (variable_declarator name: (identifier) @binding.opaque))
(lambda_expression parameters: (identifier) @binding.opaque)
(inferred_parameters (identifier) @binding.opaque)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @binding.opaque))
(enhanced_for_statement name: (identifier) @binding.opaque)
(catch_formal_parameter name: (identifier) @binding.opaque)
(resource name: (identifier) @binding.opaque)
