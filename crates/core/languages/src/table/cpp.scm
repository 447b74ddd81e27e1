; C++.
;
; As in C, a prototype (and a method that a class only declares) is a symbol whose signature ends with `;`:
; linking prefers the definition elsewhere. Pure virtual methods are definitions, since no other one exists.

; --- Definitions

((function_definition declarator: (function_declarator declarator: (identifier) @_macro
  parameters: (parameter_list . (parameter_declaration type: (type_identifier) @owner) . (parameter_declaration type: (type_identifier) @name) .)) body: (_) @body) @definition.method
  (#any-of? @_macro "TEST" "TEST_F" "TEST_P" "TYPED_TEST") (#set! test "true"))
; Signatures of constructors end before the initializers.
(function_definition declarator: (function_declarator declarator: (identifier) @name) (field_initializer_list) @body) @definition.function
(function_definition declarator: (function_declarator declarator: (qualified_identifier scope: (_) @owner name: (identifier) @name))
  (field_initializer_list) @body) @definition.method
((function_definition (storage_class_specifier "static")? @visibility declarator: [
  (function_declarator declarator: [(identifier) (operator_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(identifier) (operator_name)] @name))
  (reference_declarator (function_declarator declarator: [(identifier) (operator_name)] @name))
  ] body: (_)? @body) @definition.function
  (#not-any-of? @name "TEST" "TEST_F" "TEST_P" "TYPED_TEST"))
(function_definition declarator: [
  (function_declarator declarator: (qualified_identifier scope: (_) @owner name: [(identifier) (operator_name) (destructor_name)] @name))
  (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier scope: (_) @owner name: [(identifier) (operator_name) (destructor_name)] @name)))
  (reference_declarator (function_declarator declarator: (qualified_identifier scope: (_) @owner name: [(identifier) (operator_name) (destructor_name)] @name)))
  (function_declarator declarator: (qualified_identifier name: (qualified_identifier scope: (_) @owner name: [(identifier) (operator_name) (destructor_name)] @name)))
  (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier name: (qualified_identifier scope: (_) @owner name: [(identifier) (operator_name) (destructor_name)] @name))))
  (reference_declarator (function_declarator declarator: (qualified_identifier name: (qualified_identifier scope: (_) @owner name: [(identifier) (operator_name) (destructor_name)] @name))))
  (function_declarator declarator: (qualified_identifier name: (qualified_identifier name: (qualified_identifier scope: (_) @owner name: [(identifier) (operator_name) (destructor_name)] @name))))
  (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier name: (qualified_identifier name: (qualified_identifier scope: (_) @owner name: [(identifier) (operator_name) (destructor_name)] @name)))))
  (reference_declarator (function_declarator declarator: (qualified_identifier name: (qualified_identifier name: (qualified_identifier scope: (_) @owner name: [(identifier) (operator_name) (destructor_name)] @name)))))
  ] body: (_)? @body) @definition.method
(function_definition declarator: [
  (function_declarator declarator: [(field_identifier) (destructor_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (destructor_name)] @name))
  (reference_declarator (function_declarator declarator: [(field_identifier) (destructor_name)] @name))
  ] body: (_)? @body) @definition.method
(function_definition declarator: (operator_cast "operator" @name) body: (_)? @body) @definition.method

((declaration (storage_class_specifier "static")? @visibility declarator: [
  (function_declarator declarator: [(identifier) (operator_name) (destructor_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(identifier) (operator_name) (destructor_name)] @name))
  (reference_declarator (function_declarator declarator: [(identifier) (operator_name) (destructor_name)] @name))
  ]) @definition.function (#set! declaration "true"))
(field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) (identifier) (operator_name) (destructor_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (identifier) (operator_name) (destructor_name)] @name))
  (reference_declarator (function_declarator declarator: [(field_identifier) (identifier) (operator_name) (destructor_name)] @name))
  ] default_value: (_)) @definition.method
((field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) (identifier) (operator_name) (destructor_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (identifier) (operator_name) (destructor_name)] @name))
  (reference_declarator (function_declarator declarator: [(field_identifier) (identifier) (operator_name) (destructor_name)] @name))
  ] !default_value) @definition.method (#set! declaration "true"))

((class_specifier name: [(type_identifier) @name (template_type name: (_) @name)] body: (_) @body) @definition.class (#set! members "private"))
((class_specifier name: (qualified_identifier scope: (_) @owner name: (type_identifier) @name) body: (_) @body) @definition.class (#set! members "private"))
((struct_specifier name: [(type_identifier) @name (template_type name: (_) @name)] body: (_) @body) @definition.struct (#set! members "public"))
((struct_specifier name: (qualified_identifier scope: (_) @owner name: (type_identifier) @name) body: (_) @body) @definition.struct (#set! members "public"))
((union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct (#set! members "public"))
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (_) @name) @definition.constant
(concept_definition name: (_) @name) @definition.interface
(alias_declaration name: (_) @name) @definition.type
((type_definition type: (struct_specifier body: (_) @body) declarator: (type_identifier) @name) @definition.struct (#set! members "public"))
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
  ]) @definition.type

(namespace_definition name: (namespace_identifier) @name body: (_) @body) @definition.module
(namespace_definition name: (nested_namespace_specifier . (namespace_identifier) @owner . (namespace_identifier) @name .) body: (_) @body) @definition.module
(namespace_definition name: (nested_namespace_specifier (nested_namespace_specifier . (namespace_identifier) @owner . (namespace_identifier) @name .)) body: (_) @body) @definition.module
; The contents of a namespace without name are visible in their file only.
(namespace_definition !name "namespace" @visibility body: (declaration_list (function_definition declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (reference_declarator (function_declarator declarator: (identifier) @name))
  ]) @definition.function))
(namespace_definition !name "namespace" @visibility body: (declaration_list (declaration declarator: [
  (identifier) @name
  (init_declarator declarator: (identifier) @name)
  (init_declarator declarator: (array_declarator declarator: (identifier) @name))
  ]) @definition.variable))
(namespace_definition !name "namespace" @visibility body: (declaration_list (class_specifier name: (type_identifier) @name body: (_)) @definition.class))
(namespace_definition !name "namespace" @visibility body: (declaration_list (struct_specifier name: (type_identifier) @name body: (_)) @definition.struct))
(namespace_definition !name "namespace" @visibility body: (declaration_list (enum_specifier name: (type_identifier) @name body: (_)) @definition.enum))

(field_declaration declarator: [
  (field_identifier) @name
  (pointer_declarator declarator: (field_identifier) @name)
  (reference_declarator (field_identifier) @name)
  (array_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))
  ]) @definition.field
((declaration (storage_class_specifier "extern") declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name) (array_declarator declarator: (identifier) @name)]) @definition.variable
  (#set! declaration "true"))
(declaration (storage_class_specifier "static")? @visibility
  type: [(primitive_type) (type_identifier) (sized_type_specifier) (qualified_identifier) (template_type) (placeholder_type_specifier)
    (struct_specifier !body) (enum_specifier !body)] declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (reference_declarator (identifier) @name)
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: (identifier) @name value: [(initializer_list) (lambda_expression)]? @body)
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  (init_declarator declarator: (reference_declarator (identifier) @name))
  (init_declarator declarator: (array_declarator declarator: (identifier) @name) value: (initializer_list)? @body)
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
  ]) @definition.variable
(declaration declarator: (init_declarator declarator: (qualified_identifier scope: (_) @owner name: (identifier) @name))) @definition.field

(preproc_def name: (_) @name value: (_)) @definition.constant
(preproc_function_def name: (_) @name) @definition.macro

(access_specifier) @section
(template_declaration) @wrapper
(comment) @comment
(attribute_specifier) @decorator
(attribute_declaration (attribute) @decorator)
(type_parameter_declaration (type_identifier) @type_parameter)
(optional_type_parameter_declaration name: (type_identifier) @type_parameter)
(template_parameter_list (parameter_declaration declarator: (identifier) @type_parameter))
(template_parameter_list (optional_parameter_declaration declarator: (identifier) @type_parameter))
(variadic_type_parameter_declaration (type_identifier) @type_parameter)

; --- Imports

((preproc_include path: [(string_literal) (system_lib_string)] @import.module) @import (#set! wildcard "true"))
((using_declaration "namespace" [(identifier) (qualified_identifier)] @import.module) @import (#set! wildcard "true"))
((using_declaration (qualified_identifier) @import.path) @import (#not-match? @import "^using\\s+namespace"))
(namespace_alias_definition name: (_) @import.alias) @import
(namespace_alias_definition name: (_) "=" (_) @import.module)

; --- References

(call_expression function: (identifier) @name arguments: (_) @arguments) @reference.call
(call_expression function: (field_expression argument: (_) @receiver field: [(field_identifier) (destructor_name)] @name) arguments: (_) @arguments) @reference.call
(call_expression function: (field_expression argument: (_) @receiver field: (template_method name: (_) @name)) arguments: (_) @arguments) @reference.call
(call_expression function: (qualified_identifier) @path arguments: (_) @arguments) @reference.call
(call_expression function: (template_function name: (identifier) @name) arguments: (_) @arguments) @reference.call
(call_expression function: (parenthesized_expression (pointer_expression argument: (identifier) @name)) arguments: (_) @arguments) @reference.call

(new_expression type: (type_identifier) @name arguments: (_)? @arguments) @reference.instantiate
(new_expression type: [(qualified_identifier) (template_type)] @path arguments: (_)? @arguments) @reference.instantiate
(compound_literal_expression type: (type_identifier) @name) @reference.instantiate
(compound_literal_expression type: [(qualified_identifier) (template_type)] @path) @reference.instantiate
((call_expression function: (template_function name: (identifier) @_make arguments: (template_argument_list . (type_descriptor type: (type_identifier) @reference.instantiate))))
  (#any-of? @_make "make_unique" "make_shared"))
((call_expression function: (qualified_identifier name: (template_function name: (identifier) @_make
  arguments: (template_argument_list . (type_descriptor type: (type_identifier) @reference.instantiate)))))
  (#any-of? @_make "make_unique" "make_shared"))

(throw_statement (call_expression function: (identifier) @name arguments: (_) @arguments) @reference.instantiate)
(throw_statement (call_expression function: (qualified_identifier) @path arguments: (_) @arguments) @reference.instantiate)

(base_class_clause (type_identifier) @reference.extend)
(base_class_clause (qualified_identifier) @path) @reference.extend
(base_class_clause (template_type name: (type_identifier) @reference.extend))

(type_identifier) @reference.type_use
(qualified_identifier scope: (_) @receiver name: (type_identifier) @name) @reference.type_use
(qualified_identifier scope: (_) @receiver name: (template_type name: (type_identifier) @name)) @reference.type_use
((qualified_identifier scope: (namespace_identifier) @reference.type_use) (#set! capitalized "true"))
(qualified_identifier scope: (template_type name: (type_identifier) @reference.type_use))
(translation_unit (class_specifier name: (_) @not_reference !body))
(translation_unit (struct_specifier name: (_) @not_reference !body))
(declaration_list (class_specifier name: (_) @not_reference !body))
(declaration_list (struct_specifier name: (_) @not_reference !body))
(preproc_ifdef (class_specifier name: (_) @not_reference !body))

(attribute name: (identifier) @reference.decorate)

(argument_list (identifier) @reference.value)
(argument_list (pointer_expression argument: (identifier) @reference.value))
(argument_list (pointer_expression argument: (qualified_identifier) @path)) @reference.value
(initializer_list (identifier) @reference.value)
(init_declarator value: (identifier) @reference.value)
(assignment_expression right: (identifier) @reference.value)
(return_statement (identifier) @reference.value)

; --- Evident types

(parameter_declaration type: [(type_identifier) (qualified_identifier) (template_type) (struct_specifier !body) (class_specifier !body)] @binding.type declarator: [
  (identifier) @binding.name
  (pointer_declarator declarator: (identifier) @binding.name)
  (reference_declarator (identifier) @binding.name)]) @binding.annotation
(optional_parameter_declaration type: [(type_identifier) (qualified_identifier) (template_type) (struct_specifier !body) (class_specifier !body)] @binding.type declarator: [
  (identifier) @binding.name
  (pointer_declarator declarator: (identifier) @binding.name)
  (reference_declarator (identifier) @binding.name)]) @binding.annotation
(declaration type: [(type_identifier) (qualified_identifier) (template_type) (struct_specifier !body) (class_specifier !body)] @binding.type declarator: [
  (identifier) @binding.name
  (pointer_declarator declarator: (identifier) @binding.name)
  (init_declarator declarator: (identifier) @binding.name)
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @binding.name))
  (init_declarator declarator: (reference_declarator (identifier) @binding.name))]) @binding.annotation
(for_range_loop type: [(type_identifier) (qualified_identifier) (template_type) (struct_specifier !body) (class_specifier !body)] @binding.type declarator: [(identifier) @binding.name (reference_declarator (identifier) @binding.name)]) @binding.annotation
(field_declaration type: [(type_identifier) (qualified_identifier) (template_type) (struct_specifier !body) (class_specifier !body)] @binding.type declarator: [
  (field_identifier) @binding.name
  (pointer_declarator declarator: (field_identifier) @binding.name)
  (reference_declarator (field_identifier) @binding.name)]) @binding.annotation
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: [(identifier) @binding.name (pointer_declarator declarator: (identifier) @binding.name)]
  value: (new_expression type: (_) @binding.type))) @binding.constructor
; `Foo()` makes a `Foo`, by its capital letter. Linking recognises functions that begin with a capital letter.
((declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: (identifier) @binding.name
  value: (call_expression function: [(identifier) (qualified_identifier name: (identifier))] @binding.type))) @binding.constructor
  (#match? @binding.type "^(.*::)?[A-Z][^:]*$"))
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: (identifier) @binding.name
  value: (compound_literal_expression type: (_) @binding.type))) @binding.constructor
((declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: (identifier) @binding.name
  value: (call_expression function: (qualified_identifier name: (template_function name: (identifier) @_make
    arguments: (template_argument_list . (type_descriptor type: (_) @binding.type))))))) @binding.constructor
  (#any-of? @_make "make_unique" "make_shared"))

; --- Parameters and locals that hide outer names

(parameter_declaration declarator: (identifier) @binding.opaque)
(reference_declarator (identifier) @binding.opaque)
(variadic_declarator (identifier) @binding.opaque)
(lambda_capture_initializer left: (identifier) @binding.opaque)
(optional_parameter_declaration declarator: (identifier) @binding.opaque)
(declaration declarator: (identifier) @binding.opaque)
(init_declarator declarator: (identifier) @binding.opaque)
(pointer_declarator declarator: (identifier) @binding.opaque)
(array_declarator declarator: (identifier) @binding.opaque)
(for_range_loop declarator: (identifier) @binding.opaque)
(structured_binding_declarator (identifier) @binding.opaque)
(lambda_expression) @local
