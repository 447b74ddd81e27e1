; PHP.

((namespace_definition name: (_) @package body: (_)? @package.body) (#set! dotted "true") (#set! signature "namespace"))

; --- Definitions

(class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(trait_declaration name: (_) @name body: (_) @body) @definition.trait
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_case name: (_) @name) @definition.constant
(function_definition name: (_) @name body: (_) @body) @definition.function
(method_declaration (visibility_modifier)? @visibility name: (_) @name body: (_)? @body) @definition.method
(property_declaration (visibility_modifier)? @visibility (property_element name: (_) @name)) @definition.field
(property_declaration (property_element name: (_) @name) (property_hook_list) @body) @definition.field
(const_declaration (visibility_modifier)? @visibility (const_element . (name) @name)) @definition.constant
; `__construct(private Client $client)` declares a field.
((property_promotion_parameter visibility: (_) @visibility name: (_) @name) @definition.field (#set! of_object "true"))
((property_promotion_parameter readonly: (_) name: (_) @name) @definition.field (#set! of_object "true"))
((function_call_expression function: (name) @_define arguments: (arguments . (argument (string) @name))) @definition.constant
  (#eq? @_define "define"))
(program (expression_statement (assignment_expression left: (variable_name) @name) @definition.variable))

(anonymous_class) @local
(anonymous_function) @local
(arrow_function) @local

(comment) @comment
(attribute_group) @decorator

; --- Imports

(namespace_use_declaration) @import
(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @import.path))
(namespace_use_declaration (namespace_name) @import.prefix body: (_)) @import.group
(namespace_use_group (namespace_use_clause . [(name) (qualified_name)] @import.path))
(namespace_use_clause alias: (_) @import.alias)
; Included files.
((include_expression (string) @import.module) @import (#set! wildcard "true"))
((include_once_expression (string) @import.module) @import (#set! wildcard "true"))
((require_expression (string) @import.module) @import (#set! wildcard "true"))
((require_once_expression (string) @import.module) @import (#set! wildcard "true"))
((include_expression (binary_expression right: (string) @import.module)) @import (#set! wildcard "true"))
((include_once_expression (binary_expression right: (string) @import.module)) @import (#set! wildcard "true"))
((require_expression (binary_expression right: (string) @import.module)) @import (#set! wildcard "true"))
((require_once_expression (binary_expression right: (string) @import.module)) @import (#set! wildcard "true"))

; --- References

(function_call_expression function: [(name) (qualified_name) (relative_name)] @path arguments: (_) @arguments) @reference.call
(member_call_expression object: (_) @receiver name: (name) @name arguments: (_) @arguments) @reference.call
(nullsafe_member_call_expression object: (_) @receiver name: (name) @name arguments: (_) @arguments) @reference.call
(scoped_call_expression scope: (_) @receiver name: (name) @name arguments: (_) @arguments) @reference.call
(object_creation_expression . [(name) (qualified_name) (relative_name)] @path (arguments)? @arguments) @reference.instantiate
(anonymous_class (base_clause (_) @path)) @reference.instantiate
(anonymous_class (class_interface_clause (_) @path)) @reference.instantiate

(class_declaration (base_clause (_) @path)) @reference.extend
(interface_declaration (base_clause (_) @path)) @reference.extend
(class_declaration (class_interface_clause (_) @path)) @reference.implement
(enum_declaration (class_interface_clause (_) @path)) @reference.implement
; The members of a trait become those of the class.
(use_declaration [(name) (qualified_name) (relative_name)] @path) @reference.extend

(attribute . (_) @path parameters: (_)? @arguments) @reference.decorate

(named_type (_) @path) @reference.type_use
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @path) @reference.type_use
(scoped_call_expression scope: [(name) (qualified_name)] @path) @reference.type_use
(scoped_property_access_expression scope: [(name) (qualified_name)] @path) @reference.type_use
(class_constant_access_expression . [(name) (qualified_name)] @path) @reference.type_use
((class_constant_access_expression . (name) @receiver (name) @name .) @reference.value (#not-eq? @name "class"))

; --- Evident types

(simple_parameter type: (_) @binding.type name: (_) @binding.name) @binding.annotation
(property_promotion_parameter type: (_) @binding.type name: (_) @binding.name) @binding.annotation
((property_promotion_parameter visibility: (_) type: (_) @binding.type name: (_) @binding.name) @binding.annotation (#set! of_object "true"))
((property_promotion_parameter readonly: (_) type: (_) @binding.type name: (_) @binding.name) @binding.annotation (#set! of_object "true"))
(property_declaration type: (_) @binding.type (property_element name: (_) @binding.name)) @binding.annotation
(assignment_expression left: [(variable_name) (member_access_expression)] @binding.name
  right: (object_creation_expression . [(name) (qualified_name) (relative_name)] @binding.type)) @binding.constructor
(assignment_expression left: (member_access_expression) @binding.name right: (variable_name) @binding.source) @binding.annotation
(catch_clause type: (type_list (named_type) @binding.type) name: (_) @binding.name) @binding.annotation

; --- Parameters and locals that hide outer names

(simple_parameter name: (variable_name) @binding.opaque)
(variadic_parameter name: (variable_name) @binding.opaque)
(assignment_expression left: (variable_name) @binding.opaque)
(augmented_assignment_expression left: (variable_name) @binding.opaque)
(list_literal (variable_name) @binding.opaque)
(foreach_statement . (_) . (variable_name) @binding.opaque)
(foreach_statement (pair (variable_name) @binding.opaque))
(by_ref (variable_name) @binding.opaque)
(catch_clause name: (variable_name) @binding.opaque)
(static_variable_declaration name: (variable_name) @binding.opaque)
(global_declaration (variable_name) @binding.opaque)
