// Hello answers every request with "hello from <host name>", so that it can be seen which pod answered.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	host, err := os.Hostname()
	if err != nil {
		log.Fatalf("cannot find out the host name: %v", err)
	}
	address := ":8080"
	if port := os.Getenv("PORT"); port != "" {
		address = ":" + port
	}
	http.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		log.Printf("%s %q from %s", request.Method, request.URL.Path, request.RemoteAddr)
		fmt.Fprintf(answer, "hello from %s\n", host)
	})
	log.Printf("listening on %s", address)
	log.Fatal(http.ListenAndServe(address, nil))
}
