package answer

import "fmt"

// Refuse is a Result that tells the model what to do instead.
func Refuse(format string, args ...any) Result {
	return Result{Text: []string{fmt.Sprintf(format, args...)}, IsError: true}
}

// ArgumentError says which argument is wrong, to the model.
type ArgumentError struct{ sentence string }

func (e *ArgumentError) Error() string { return e.sentence }

// WrongArgument says, to the model, what is wrong with an argument.
func WrongArgument(format string, args ...any) error {
	return &ArgumentError{fmt.Sprintf(format, args...)}
}
