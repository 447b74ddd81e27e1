; C#.

((namespace_declaration name: (_) @package body: (_) @package.body) (#set! dotted "true") (#set! signature "namespace") (#set! visibility "public"))
(file_scoped_namespace_declaration name: (_) @package)

; --- Definitions

((class_declaration (modifier ["public" "protected" "private" "internal"]) @visibility name: (_) @name body: (_)? @body) @definition.class
  (#set! members "private"))
((class_declaration name: (_) @name body: (_)? @body) @definition.class (#set! members "private"))
((struct_declaration (modifier ["public" "protected" "private" "internal"])? @visibility name: (_) @name body: (_)? @body) @definition.struct
  (#set! members "private"))
((record_declaration (modifier ["public" "protected" "private" "internal"])? @visibility name: (_) @name body: (_)? @body) @definition.class
  (#set! members "private"))
; Parameters of a record are its properties.
((record_declaration (parameter_list (parameter name: (_) @name) @definition.field)) (#set! visibility "public"))
((interface_declaration (modifier ["public" "protected" "private" "internal"])? @visibility name: (_) @name body: (_)? @body) @definition.interface
  (#set! members "public"))
(enum_declaration (modifier ["public" "protected" "private" "internal"])? @visibility name: (_) @name body: (_)? @body) @definition.enum
(enum_member_declaration name: (_) @name) @definition.constant
(delegate_declaration (modifier ["public" "protected" "private" "internal"])? @visibility name: (_) @name) @definition.type

(method_declaration (modifier ["public" "protected" "private" "internal"]) @visibility name: (_) @name body: (_)? @body) @definition.method
; An explicit implementation of an interface member is called through the interface.
((method_declaration (explicit_interface_specifier) name: (_) @name body: (_)? @body) @definition.method (#set! visibility "public"))
(method_declaration name: (_) @name body: (_)? @body) @definition.method
(constructor_declaration (modifier ["public" "protected" "private" "internal"])? @visibility name: (_) @name body: (_)? @body) @definition.method
((destructor_declaration body: (_)? @body) @definition.method (#set! name "Finalize") (#set! visibility "protected"))
(indexer_declaration (modifier ["public" "protected" "private" "internal"])? @visibility "this" @name accessors: (_)? @body) @definition.method
(indexer_declaration "this" @name value: (_) @body) @definition.method
(operator_declaration (modifier "public") @visibility operator: _ @name body: (_)? @body) @definition.method
(conversion_operator_declaration (modifier "public") @visibility "operator" @name body: (_)? @body) @definition.method
(local_function_statement name: (_) @name body: (_)? @body) @definition.function

(property_declaration (modifier ["public" "protected" "private" "internal"])? @visibility name: (_) @name accessors: (_)? @body) @definition.field
(property_declaration name: (_) @name value: (arrow_expression_clause) @body) @definition.field
(event_declaration (modifier ["public" "protected" "private" "internal"])? @visibility name: (_) @name accessors: (_)? @body) @definition.field
(event_field_declaration (modifier ["public" "protected" "private" "internal"])? @visibility (variable_declaration (variable_declarator name: (_) @name))) @definition.field
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (_) @name))) @definition.constant
(field_declaration (modifier ["public" "protected" "private" "internal"])? @visibility (variable_declaration (variable_declarator name: (_) @name))) @definition.variable

(lambda_expression) @local
(anonymous_method_expression) @local

(comment) @comment
(attribute_list) @decorator

(type_parameter name: (identifier) @type_parameter)

; --- Imports

((using_directive !name [(identifier) (qualified_name) (alias_qualified_name) (generic_name)] @import.module) @import (#set! wildcard "true"))
(using_directive name: (_) @import.namespace "=" (_) @import.module) @import

; --- References

(invocation_expression function: [(identifier) @name (generic_name (identifier) @name)] arguments: (_) @arguments) @reference.call
(invocation_expression function: (member_access_expression expression: _ @receiver
  name: [(identifier) @name (generic_name (identifier) @name)]) arguments: (_) @arguments) @reference.call
(invocation_expression function: (conditional_access_expression condition: _ @receiver
  (member_binding_expression name: [(identifier) @name (generic_name (identifier) @name)])) arguments: (_) @arguments) @reference.call
(constructor_initializer ["base" "this"] @name (argument_list) @arguments) @reference.call

(object_creation_expression type: [(identifier) (generic_name) (qualified_name)] @path arguments: (_)? @arguments) @reference.instantiate
(variable_declaration type: [(identifier) (generic_name) (qualified_name)] @path
  (variable_declarator (implicit_object_creation_expression (argument_list) @arguments))) @reference.instantiate

; Names of interfaces start with an I, names of classes do not.
((class_declaration (base_list [(identifier) (generic_name) (qualified_name)] @path)) @reference.extend (#not-match? @path "^([A-Za-z0-9_]+\\.)*I[A-Z]"))
((class_declaration (base_list [(identifier) (generic_name) (qualified_name)] @path)) @reference.implement (#match? @path "^([A-Za-z0-9_]+\\.)*I[A-Z]"))
((class_declaration (base_list (primary_constructor_base_type type: (_) @path (argument_list) @arguments))) @reference.extend)
((record_declaration (base_list [(identifier) (generic_name) (qualified_name)] @path)) @reference.extend (#not-match? @path "^([A-Za-z0-9_]+\\.)*I[A-Z]"))
((record_declaration (base_list [(identifier) (generic_name) (qualified_name)] @path)) @reference.implement (#match? @path "^([A-Za-z0-9_]+\\.)*I[A-Z]"))
(record_declaration (base_list (primary_constructor_base_type type: (_) @path (argument_list) @arguments))) @reference.extend
(struct_declaration (base_list [(identifier) (generic_name) (qualified_name)] @path)) @reference.implement
(interface_declaration (base_list [(identifier) (generic_name) (qualified_name)] @path)) @reference.extend

(attribute name: (_) @path (attribute_argument_list)? @arguments) @reference.decorate

; Types are plain identifiers, so each place of a type is named here.
(generic_name (identifier) @reference.type_use)
(type_argument_list (identifier) @reference.type_use)
(nullable_type type: (identifier) @reference.type_use)
(array_type type: (identifier) @reference.type_use)
(qualified_name qualifier: (_) @receiver name: (identifier) @name) @reference.type_use
(qualified_name qualifier: (qualified_name name: (_) @not_reference))
(namespace_declaration name: (qualified_name name: (_) @not_reference))
(file_scoped_namespace_declaration name: (qualified_name name: (_) @not_reference))
(explicit_interface_specifier (identifier) @reference.type_use)
(parameter type: (identifier) @reference.type_use)
(variable_declaration type: (identifier) @reference.type_use)
(property_declaration type: (identifier) @reference.type_use)
(event_declaration type: (identifier) @reference.type_use)
(method_declaration returns: (identifier) @reference.type_use)
(local_function_statement type: (identifier) @reference.type_use)
(delegate_declaration type: (identifier) @reference.type_use)
(indexer_declaration type: (identifier) @reference.type_use)
(operator_declaration type: (identifier) @reference.type_use)
(conversion_operator_declaration type: (identifier) @reference.type_use)
(cast_expression type: (identifier) @reference.type_use)
(as_expression right: (identifier) @reference.type_use)
(is_expression right: (identifier) @reference.type_use)
(typeof_expression type: (identifier) @reference.type_use)
(default_expression type: (identifier) @reference.type_use)
(declaration_pattern type: (identifier) @reference.type_use)
(recursive_pattern type: (identifier) @reference.type_use)
(type_pattern type: (identifier) @reference.type_use)
(foreach_statement type: (identifier) @reference.type_use)
(catch_declaration type: (identifier) @reference.type_use)
(declaration_expression type: (identifier) @reference.type_use)
(tuple_element type: (identifier) @reference.type_use)
(ref_type type: (identifier) @reference.type_use)
(type_parameter_constraint type: (identifier) @reference.type_use)

; --- Evident types

(parameter type: [(identifier) (generic_name) (qualified_name) (nullable_type)] @binding.type name: (identifier) @binding.name) @binding.annotation
(variable_declaration type: [(identifier) (generic_name) (qualified_name) (nullable_type)] @binding.type
  (variable_declarator name: (identifier) @binding.name)) @binding.annotation
(variable_declarator name: (identifier) @binding.name (object_creation_expression type: (_) @binding.type)) @binding.constructor
(property_declaration type: [(identifier) (generic_name) (qualified_name) (nullable_type)] @binding.type name: (identifier) @binding.name) @binding.annotation
(foreach_statement type: [(identifier) (generic_name) (qualified_name)] @binding.type left: (identifier) @binding.name) @binding.annotation
(declaration_pattern type: (_) @binding.type name: (identifier) @binding.name) @binding.annotation
(recursive_pattern type: (_) @binding.type name: (identifier) @binding.name) @binding.annotation
(catch_declaration type: (_) @binding.type name: (identifier) @binding.name) @binding.annotation
(declaration_expression type: [(identifier) (generic_name) (qualified_name)] @binding.type name: (identifier) @binding.name) @binding.annotation

; --- Parameters and locals that hide outer names

(parameter name: (identifier) @binding.opaque)
(parameter_list name: (identifier) @binding.opaque)
(implicit_parameter) @binding.opaque
(variable_declarator name: (identifier) @binding.opaque)
(variable_declarator (tuple_pattern name: (identifier) @binding.opaque))
(foreach_statement left: (identifier) @binding.opaque)
(foreach_statement left: (tuple_pattern name: (identifier) @binding.opaque))
(declaration_pattern name: (identifier) @binding.opaque)
(recursive_pattern name: (identifier) @binding.opaque)
(var_pattern name: (identifier) @binding.opaque)
(declaration_expression name: (identifier) @binding.opaque)
(catch_declaration name: (identifier) @binding.opaque)
(from_clause name: (identifier) @binding.opaque)
(let_clause . (identifier) @binding.opaque)
(join_clause . (identifier) @binding.opaque)
