; Python.

; --- Definitions

(function_definition name: (identifier) @name body: (_) @body) @definition.function
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(lambda) @local

(function_definition body: (block . (expression_statement (string) @doc)))
(class_definition body: (block . (expression_statement (string) @doc)))

(comment) @comment
(decorator) @decorator

; Variables of modules, attributes of classes; variables of functions are left out.
(assignment left: (identifier) @name) @definition.variable
(assignment left: (pattern_list (identifier) @name)) @definition.variable
(type_alias_statement left: (type (identifier) @name)) @definition.type
(type_alias_statement left: (type (generic_type (identifier) @name))) @definition.type
; Fields that methods set on the object.
(assignment left: (attribute object: (identifier) @receiver attribute: (identifier) @name)) @definition.field

(assignment left: (pattern_list (attribute object: (identifier) @receiver attribute: (identifier) @name))) @definition.field

(function_definition type_parameters: (type_parameter (type (identifier) @type_parameter)))
(class_definition type_parameters: (type_parameter (type (identifier) @type_parameter)))
(type_alias_statement left: (type (generic_type (type_parameter (type (identifier) @type_parameter)))))

; --- Imports

(import_statement) @import
(import_statement name: (dotted_name) @import.module)
(import_statement name: (aliased_import name: (_) @import.module alias: (_) @import.alias))
(import_from_statement module_name: (_) @import.module) @import
(import_from_statement name: (dotted_name) @import.name)
(import_from_statement name: (aliased_import name: (_) @import.name alias: (_) @import.alias))
(import_from_statement (wildcard_import) @import.wildcard)

; --- Names that the file lists as public

((assignment left: (identifier) @_all right: [(list (string (string_content) @export.name)) (tuple (string (string_content) @export.name))])
  (#eq? @_all "__all__"))
((augmented_assignment left: (identifier) @_all right: (list (string (string_content) @export.name)))
  (#eq? @_all "__all__"))

; --- References

(call function: (identifier) @name arguments: (_) @arguments) @reference.call
(call function: (attribute object: (_) @receiver attribute: (identifier) @name) arguments: (_) @arguments) @reference.call

(class_definition superclasses: (argument_list (identifier) @reference.extend))
(class_definition superclasses: (argument_list (attribute object: (_) @receiver attribute: (identifier) @name) @reference.extend))
(class_definition superclasses: (argument_list (subscript value: (identifier) @reference.extend)))
(class_definition superclasses: (argument_list (subscript value: (attribute object: (_) @receiver attribute: (identifier) @name) @reference.extend)))
(class_definition superclasses: (argument_list (keyword_argument value: (identifier) @reference.type_use)))
(class_definition superclasses: (argument_list (keyword_argument value: (attribute object: (_) @receiver attribute: (identifier) @name) @reference.type_use)))

(decorator (identifier) @reference.decorate)
(decorator (attribute object: (_) @receiver attribute: (identifier) @name) @reference.decorate)
(decorator (call function: (identifier) @reference.decorate))
(decorator (call function: (attribute object: (_) @receiver attribute: (identifier) @name) @reference.decorate))

(type (identifier) @reference.type_use)
(type (attribute object: (_) @receiver attribute: (identifier) @name) @reference.type_use)
(type (member_type (type) @receiver (identifier) @name) @reference.type_use)
(generic_type (identifier) @reference.type_use)
(type (string (string_content) @path)) @reference.type_use
(type (subscript value: (attribute object: (_) @receiver attribute: (identifier) @name) @reference.type_use))
; The grammar reads `A | B` as a binary operator.
(type (binary_operator left: (identifier) @reference.type_use))
(type (binary_operator right: (identifier) @reference.type_use))
(type (binary_operator left: (attribute object: (_) @receiver attribute: (identifier) @name) @reference.type_use))
(type (binary_operator right: (attribute object: (_) @receiver attribute: (identifier) @name) @reference.type_use))
(except_clause value: (identifier) @reference.type_use)
(except_clause value: (attribute object: (_) @receiver attribute: (identifier) @name) @reference.type_use)
(except_clause value: (as_pattern . (identifier) @reference.type_use))
(except_clause value: (as_pattern . (attribute object: (_) @receiver attribute: (identifier) @name) @reference.type_use))
(except_clause value: (tuple (identifier) @reference.type_use))
(except_clause value: (as_pattern . (tuple (identifier) @reference.type_use)))
(class_pattern (dotted_name) @path) @reference.type_use

(argument_list (identifier) @reference.value)
(argument_list (attribute object: (_) @receiver attribute: (identifier) @name) @reference.value)
(keyword_argument value: (identifier) @reference.value)
(default_parameter value: (identifier) @reference.value)
(typed_default_parameter value: (identifier) @reference.value)
(keyword_argument value: (attribute object: (_) @receiver attribute: (identifier) @name) @reference.value)
(assignment right: (identifier) @reference.value)
(return_statement (identifier) @reference.value)
(pair value: (identifier) @reference.value)
(pair value: (attribute object: (_) @receiver attribute: (identifier) @name) @reference.value)
(list (identifier) @reference.value)
(tuple (identifier) @reference.value)

; --- Evident types

(assignment left: (identifier) @binding.name right: (call function: [(identifier) (attribute)] @binding.type)) @binding.constructor
(assignment left: (attribute) @binding.name right: (call function: [(identifier) (attribute)] @binding.type)) @binding.constructor
(assignment left: (_) @binding.name type: (_) @binding.type) @binding.annotation
(typed_parameter . (identifier) @binding.name type: (_) @binding.type) @binding.annotation
(typed_default_parameter name: (_) @binding.name type: (_) @binding.type) @binding.annotation
(as_pattern (call function: [(identifier) (attribute)] @binding.type) alias: (as_pattern_target (identifier) @binding.name)) @binding.constructor
(named_expression name: (identifier) @binding.name value: (call function: [(identifier) (attribute)] @binding.type)) @binding.constructor
(assignment left: (attribute) @binding.name right: (identifier) @binding.source) @binding.annotation

; --- Parameters and locals that hide outer names

(parameters (identifier) @binding.opaque)
(lambda_parameters (identifier) @binding.opaque)
(default_parameter name: (identifier) @binding.opaque)
(typed_parameter . (identifier) @binding.opaque)
(typed_default_parameter name: (identifier) @binding.opaque)
(list_splat_pattern (identifier) @binding.opaque)
(dictionary_splat_pattern (identifier) @binding.opaque)
(assignment left: (identifier) @binding.opaque)
(pattern_list (identifier) @binding.opaque)
(tuple_pattern (identifier) @binding.opaque)
(list_pattern (identifier) @binding.opaque)
(for_statement left: (identifier) @binding.opaque)
(for_in_clause left: (identifier) @binding.opaque)
(as_pattern_target (identifier) @binding.opaque)
(named_expression name: (identifier) @binding.opaque)
