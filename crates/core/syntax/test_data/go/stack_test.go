package collections

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type fixture struct {
	*testing.T
	stack *Stack[int]
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	return fixture{T: t, stack: New[int]()}
}

func TestPush(t *testing.T) {
	f := newFixture(t)
	f.stack.Push(1)
	require.Equal(t, 1, sum(f.stack))
}

func TestTable(t *testing.T) {
	cases := []struct {
		name string
		want int
	}{
		{name: "empty", want: 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, sum(New[int]()))
		})
	}
}

func BenchmarkPush(b *testing.B) {
	stack := New[int]()
	for i := 0; i < b.N; i++ {
		stack.Push(i)
	}
}

func Testify() {}
