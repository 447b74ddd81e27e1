; Go.

(package_clause (package_identifier) @package)

; --- Definitions

(function_declaration name: (identifier) @name body: (block)? @body) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration name: (_)? @self type: [
    (type_identifier) @owner
    (generic_type type: (type_identifier) @owner)
    (pointer_type (type_identifier) @owner)
    (pointer_type (generic_type type: (type_identifier) @owner))]))
  name: (field_identifier) @name body: (block)? @body) @definition.method
(func_literal) @local

((type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @definition.struct (#set! signature "type"))
((type_spec name: (_) @name type: (interface_type "{" @body)) @definition.interface (#set! signature "type"))
((type_spec name: (_) @name) @definition.type (#set! signature "type"))
((type_alias name: (_) @name) @definition.type (#set! signature "type"))
((const_spec (identifier) @name) @definition.constant (#set! signature "const"))
((var_spec name: (identifier) @name) @definition.variable (#set! signature "var"))
(field_declaration name: (field_identifier) @name) @definition.field
(method_elem name: (field_identifier) @name) @definition.method

(type_declaration) @wrapper
(const_declaration) @wrapper
(var_declaration) @wrapper
(comment) @comment

(type_parameter_declaration name: (identifier) @type_parameter)
(method_declaration receiver: (parameter_list (parameter_declaration type: (generic_type
  type_arguments: (type_arguments (type_elem (type_identifier) @type_parameter))))))
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (generic_type
  type_arguments: (type_arguments (type_elem (type_identifier) @type_parameter)))))))

; --- Imports

(import_spec path: (_) @import.module) @import
(import_spec name: [(package_identifier) (blank_identifier)] @import.namespace)
(import_spec name: (dot) @import.wildcard)

; --- References

(call_expression function: (identifier) @name arguments: (_) @arguments) @reference.call
(call_expression function: (selector_expression operand: (_) @receiver field: (_) @name) arguments: (_) @arguments) @reference.call

(call_expression function: (index_expression operand: (identifier) @name) arguments: (_) @arguments) @reference.call
(call_expression function: (index_expression operand: (selector_expression operand: (_) @receiver field: (_) @name)) arguments: (_) @arguments) @reference.call
; The grammar reads `New[int](3)` as a conversion.
(type_conversion_expression type: (generic_type type: (type_identifier) @reference.call))
(type_conversion_expression type: (generic_type type: (qualified_type package: (_) @receiver name: (_) @name))) @reference.call
(call_expression function: (parenthesized_expression (unary_expression operand: (identifier) @reference.type_use)))

(composite_literal type: (type_identifier) @reference.instantiate)
(composite_literal type: (qualified_type package: (_) @receiver name: (_) @name)) @reference.instantiate
(composite_literal type: (generic_type type: (type_identifier) @reference.instantiate))
(composite_literal type: (generic_type type: (qualified_type package: (_) @receiver name: (_) @name))) @reference.instantiate

; The members of embedded types become members.
(field_declaration !name type: (type_identifier) @reference.extend)
(field_declaration !name type: (qualified_type package: (_) @receiver name: (_) @name)) @reference.extend
(field_declaration !name type: (generic_type type: (type_identifier) @reference.extend))
(field_declaration !name type: (generic_type type: (qualified_type package: (_) @receiver name: (_) @name))) @reference.extend
(interface_type (type_elem . (type_identifier) @reference.extend .))
(interface_type (type_elem . (qualified_type package: (_) @receiver name: (_) @name) .) @reference.extend)
(interface_type (type_elem . (generic_type type: (type_identifier) @reference.extend) .))

(type_identifier) @reference.type_use
(qualified_type package: (_) @receiver name: (_) @name) @reference.type_use

(argument_list (identifier) @reference.value)
(argument_list (selector_expression operand: (_) @receiver field: (_) @name) @reference.value)
(literal_element (identifier) @reference.value)
(keyed_element value: (literal_element (selector_expression operand: (_) @receiver field: (_) @name) @reference.value))
(keyed_element key: (literal_element (identifier) @not_reference))
(assignment_statement right: (expression_list (identifier) @reference.value))
(short_var_declaration right: (expression_list (identifier) @reference.value))
(var_spec value: (expression_list (identifier) @reference.value))
(return_statement (expression_list (identifier) @reference.value))

; --- Evident types

(function_declaration parameters: (parameter_list (parameter_declaration name: (_) @binding.name type: (_) @binding.type) @binding.annotation))
(method_declaration parameters: (parameter_list (parameter_declaration name: (_) @binding.name type: (_) @binding.type) @binding.annotation))
(func_literal parameters: (parameter_list (parameter_declaration name: (_) @binding.name type: (_) @binding.type) @binding.annotation))
(var_spec name: (_) @binding.name type: (_) @binding.type) @binding.annotation
(field_declaration name: (_) @binding.name type: (_) @binding.type) @binding.annotation
(field_declaration !name type: (type_identifier) @binding.name @binding.type) @binding.annotation
(field_declaration !name type: (qualified_type name: (_) @binding.name) @binding.type) @binding.annotation
(short_var_declaration left: (expression_list . (_) @binding.name .) right: (expression_list . (composite_literal type: (_) @binding.type) .)) @binding.constructor
(short_var_declaration left: (expression_list . (_) @binding.name .)
  right: (expression_list . (unary_expression operand: (composite_literal type: (_) @binding.type)) .)) @binding.constructor
(short_var_declaration left: (expression_list . (_) @binding.name .)
  right: (expression_list . (call_expression function: (identifier) @binding.function arguments: (argument_list . (type_identifier) @binding.type .)) .)) @binding.constructor
(assignment_statement left: (expression_list . (_) @binding.name .) right: (expression_list . (composite_literal type: (_) @binding.type) .)) @binding.constructor
(assignment_statement left: (expression_list . (_) @binding.name .)
  right: (expression_list . (unary_expression operand: (composite_literal type: (_) @binding.type)) .)) @binding.constructor
(var_spec name: (_) @binding.name value: (expression_list . (composite_literal type: (_) @binding.type) .)) @binding.constructor
(var_spec name: (_) @binding.name value: (expression_list . (unary_expression operand: (composite_literal type: (_) @binding.type)) .)) @binding.constructor

; --- Parameters and locals that hide outer names

(parameter_declaration name: (identifier) @binding.opaque)
(variadic_parameter_declaration name: (identifier) @binding.opaque)
(short_var_declaration left: (expression_list (identifier) @binding.opaque))
(range_clause left: (expression_list (identifier) @binding.opaque))
(receive_statement left: (expression_list (identifier) @binding.opaque))
(type_switch_statement alias: (expression_list (identifier) @binding.opaque))
(var_spec name: (identifier) @binding.opaque)
(const_spec name: (identifier) @binding.opaque)
