package collections

import "golang.org/x/exp/constraints"

// Stack is a generic stack.
type Stack[T any] struct {
	items []T
	less  func(a, b T) bool
}

// Pair holds two values.
type Pair[K comparable, V any] struct {
	Key   K
	Value V
	next  *Pair[K, V]
}

type Tree[T constraints.Ordered] interface {
	Insert(value T) Tree[T]
	Walk(visit func(node Node[T]))
}

type ordered struct {
	Stack[int]
	Pair[string, int]
}

// New makes an empty stack.
func New[T any]() *Stack[T] {
	return &Stack[T]{}
}

// Push adds an item.
func (s *Stack[T]) Push(item T) {
	s.items = append(s.items, item)
}

// Pop removes the last item.
func (s *Stack[T]) Pop() (T, error) {
	var zero T
	if len(s.items) == 0 {
		return zero, &EmptyError{Op: "pop"}
	}
	last := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return last, nil
}

// Map applies a function to all.
func Map[T, U any](stack *Stack[T], apply func(T) U) *Stack[U] {
	result := New[U]()
	for _, item := range stack.items {
		result.Push(apply(item))
	}
	return result
}

// EmptyError says that there is nothing.
type EmptyError struct{ Op string }

func (e *EmptyError) Error() string { return e.Op + ": empty" }

var _ error = (*EmptyError)(nil)

func sum(stack *Stack[int]) (total int) {
	reversed := Map(stack, negate)
	for _, item := range reversed.items {
		total += item
	}
	return
}

func negate(value int) int { return -value }
