// Program readers reads texts as programs in Go do. Each line of its input is a request in JSON, each line of its output the answer to it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type request struct {
	Reader string `json:"reader"`
	Text   []byte `json:"text"`
}

type answer struct {
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

// A reader returns what it has read, in a form that JSON can hold.
type reader func(text []byte) (any, error)

func main() {
	requests := json.NewDecoder(bufio.NewReader(os.Stdin))
	output := bufio.NewWriter(os.Stdout)
	answers := json.NewEncoder(output)
	for requests.More() {
		var asked request
		if err := requests.Decode(&asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := answers.Encode(read(asked)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		output.Flush()
	}
}

func read(asked request) (result answer) {
	found, known := readers[asked.Reader]
	if !known {
		return answer{Error: "unknown reader " + asked.Reader}
	}
	defer func() {
		if problem := recover(); problem != nil {
			result = answer{Error: fmt.Sprint(problem)}
		}
	}()
	value, err := found(asked.Text)
	if err != nil {
		return answer{Error: "error: " + err.Error()}
	}
	return answer{Value: value}
}
