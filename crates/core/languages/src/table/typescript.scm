; TypeScript, without the part that it shares with JavaScript.

; --- Definitions

(class_declaration name: (_) @name body: (_) @body) @definition.class
(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(type_alias_declaration name: (_) @name) @definition.type
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_body name: (_) @name @definition.constant)
(enum_assignment name: (_) @name) @definition.constant
(internal_module name: (_) @name body: (_) @body) @definition.module
(module name: (_) @name body: (_)? @body) @definition.module
(function_signature name: (_) @name) @definition.function

(method_definition (accessibility_modifier)? @visibility name: (_) @name body: (_) @body) @definition.method
(abstract_method_signature (accessibility_modifier)? @visibility name: (_) @name) @definition.method
(method_signature (accessibility_modifier)? @visibility name: (_) @name) @definition.method
(property_signature name: (_) @name) @definition.field
(public_field_definition (accessibility_modifier)? @visibility name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(public_field_definition (accessibility_modifier)? @visibility name: (_) @name) @definition.field
; `constructor(private client: Client)` declares a field.
((required_parameter (accessibility_modifier) @visibility pattern: (identifier) @name) @definition.field (#set! of_object "true"))
((required_parameter "readonly" pattern: (identifier) @name) @definition.field (#set! of_object "true"))
((optional_parameter (accessibility_modifier) @visibility pattern: (identifier) @name) @definition.field (#set! of_object "true"))

; Members of types without a name are no fields.
(type_annotation (object_type) @local)
(type_arguments (object_type) @local)
(construct_signature) @local
(call_signature) @local
(function_type) @local
(constructor_type) @local

(ambient_declaration) @wrapper
(expression_statement (internal_module)) @wrapper

(type_parameter name: (_) @type_parameter)
(mapped_type_clause name: (_) @type_parameter)
(infer_type (type_identifier) @type_parameter)

; --- Exports and imports

((export_statement "=" (identifier) @export.name) (#set! export_as "default"))
(import_statement (import_require_clause)) @import
(import_require_clause (identifier) @import.namespace source: (string) @import.module)
(import_alias (identifier) @import.namespace [(identifier) (nested_identifier)] @import.module) @import

; --- References

(extends_clause value: (identifier) @reference.extend)
(extends_clause value: (member_expression object: (_) @receiver property: (_) @name)) @reference.extend
(extends_clause value: (call_expression arguments: (arguments (identifier) @reference.extend)))
(extends_type_clause type: (_) @path) @reference.extend
(implements_clause (_) @path) @reference.implement

(type_identifier) @reference.type_use
(nested_type_identifier module: (_) @receiver name: (_) @name) @reference.type_use
(type_query (identifier) @reference.value)

; --- Evident types

(required_parameter pattern: (identifier) @binding.name type: (type_annotation (_) @binding.type)) @binding.annotation
(optional_parameter pattern: (identifier) @binding.name type: (type_annotation (_) @binding.type)) @binding.annotation
((required_parameter (accessibility_modifier) pattern: (identifier) @binding.name type: (type_annotation (_) @binding.type)) @binding.annotation
  (#set! of_object "true"))
(variable_declarator name: (identifier) @binding.name type: (type_annotation (_) @binding.type)) @binding.annotation
(public_field_definition name: (_) @binding.name type: (type_annotation (_) @binding.type)) @binding.annotation
(interface_body (property_signature name: (_) @binding.name type: (type_annotation (_) @binding.type)) @binding.annotation)
(type_alias_declaration value: (object_type (property_signature name: (_) @binding.name type: (type_annotation (_) @binding.type)) @binding.annotation))
(public_field_definition name: (_) @binding.name value: (new_expression constructor: (_) @binding.type)) @binding.constructor
(required_parameter pattern: (identifier) @binding.opaque)
(optional_parameter pattern: (identifier) @binding.opaque)
