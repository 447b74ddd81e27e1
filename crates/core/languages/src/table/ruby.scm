; Ruby.

; --- Definitions

(method name: (_) @name body: (_)? @body) @definition.function
((singleton_method name: (_) @name body: (_)? @body) @definition.method (#set! visibility "public"))
((call method: (identifier) @visibility arguments: (argument_list (method name: (_) @name) @definition.function))
  (#any-of? @visibility "private" "protected" "public"))
((class name: (constant) @name body: (_)? @body) @definition.class (#set! visibility "public"))
((class name: (scope_resolution scope: (_) @owner name: (_) @name) body: (_)? @body) @definition.class (#set! visibility "public"))
((module name: (constant) @name body: (_)? @body) @definition.module (#set! visibility "public"))
((module name: (scope_resolution scope: (_) @owner name: (_) @name) body: (_)? @body) @definition.module (#set! visibility "public"))
((assignment left: (constant) @name right: (call receiver: (constant) @_class method: (identifier) @_new block: (_)? @body)) @definition.class
  (#any-of? @_class "Class" "Struct" "Data") (#any-of? @_new "new" "define") (#set! visibility "public"))
((assignment left: (constant) @name) @definition.constant (#set! visibility "public"))
(program (assignment left: [(identifier) (global_variable)] @name) @definition.variable)
(alias name: (identifier) @name) @definition.function

((call method: (identifier) @_attribute @not_reference arguments: (argument_list (simple_symbol) @name)) @definition.field
  (#any-of? @_attribute "attr_accessor" "attr_reader" "attr_writer"))
((assignment left: [(instance_variable) (class_variable)] @name) @definition.field (#set! of_object "true") (#set! visibility "private"))
((operator_assignment left: [(instance_variable) (class_variable)] @name) @definition.field (#set! of_object "true") (#set! visibility "private"))

((body_statement (identifier) @section @not_reference) (#any-of? @section "private" "protected" "public" "module_function"))
; The visibility in `class << self` ends with it.
(singleton_class "end" @section)
(comment) @comment

; --- Imports

((call !receiver method: (identifier) @_require arguments: (argument_list . (string (string_content) @import.module))) @import
  (#any-of? @_require "require" "require_relative" "load") (#set! wildcard "true"))
((call !receiver method: (identifier) @_autoload arguments: (argument_list . (simple_symbol) @import.name . (string (string_content) @import.module))) @import
  (#eq? @_autoload "autoload"))

; --- References

(superclass [(constant) (scope_resolution)] @path) @reference.extend
((assignment left: (constant) right: (call receiver: (constant) @_class method: (identifier) @_new
  arguments: (argument_list . [(constant) (scope_resolution)] @path))) @reference.extend
  (#eq? @_class "Class") (#eq? @_new "new"))
((call !receiver method: (identifier) @_mix @not_reference arguments: (argument_list [(constant) (scope_resolution)] @path)) @reference.implement
  (#any-of? @_mix "include" "extend" "prepend"))

((call receiver: [(constant) (scope_resolution)] @path method: (identifier) @_new @not_reference arguments: (_)? @arguments) @reference.instantiate
  (#eq? @_new "new"))
((call !receiver method: (identifier) @_raise arguments: (argument_list . [(constant) (scope_resolution)] @path)) @reference.instantiate
  (#any-of? @_raise "raise" "fail"))
(call !receiver method: (identifier) @name arguments: (_)? @arguments) @reference.call
(call receiver: (_) @receiver method: [(identifier) (constant)] @name arguments: (_)? @arguments) @reference.call
; A bare name calls a method, unless a variable has this name.
(body_statement (identifier) @reference.call)
(block_body (identifier) @reference.call)
(ensure (identifier) @reference.call)
(then (identifier) @reference.call)
(else (identifier) @reference.call)
(block_argument (simple_symbol) @reference.value)

(constant) @reference.type_use
(scope_resolution scope: (_) @receiver name: (constant) @name) @reference.type_use

; --- Evident types

(assignment left: [(identifier) (instance_variable)] @binding.name
  right: (call receiver: [(constant) (scope_resolution)] @binding.type method: (identifier) @binding.function)) @binding.constructor
(operator_assignment left: [(identifier) (instance_variable)] @binding.name
  right: (call receiver: [(constant) (scope_resolution)] @binding.type method: (identifier) @binding.function)) @binding.constructor
(assignment left: (instance_variable) @binding.name right: (identifier) @binding.source) @binding.annotation

(method_parameters (identifier) @binding.opaque)
(optional_parameter name: (identifier) @binding.opaque)
(keyword_parameter name: (identifier) @binding.opaque)
(splat_parameter name: (identifier) @binding.opaque)
(hash_splat_parameter name: (identifier) @binding.opaque)
(block_parameter name: (identifier) @binding.opaque)
(block_parameters (identifier) @binding.opaque)
(assignment left: (identifier) @binding.opaque)
(operator_assignment left: (identifier) @binding.opaque)
(left_assignment_list (identifier) @binding.opaque)
(exception_variable (identifier) @binding.opaque)
(destructured_left_assignment (identifier) @binding.opaque)
(rest_assignment (identifier) @binding.opaque)
(lambda_parameters (identifier) @binding.opaque)
(destructured_parameter (identifier) @binding.opaque)
(for pattern: (identifier) @binding.opaque)
(in_clause pattern: (identifier) @binding.opaque)
(array_pattern (identifier) @binding.opaque)
(find_pattern (identifier) @binding.opaque)
(keyword_pattern key: (hash_key_symbol) @binding.opaque !value)
(keyword_pattern value: (identifier) @binding.opaque)
(as_pattern name: (identifier) @binding.opaque)
