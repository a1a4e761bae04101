// Reads certificate requests as the signer of kube-controller-manager does: each line of standard input is the base64 of a
// PEM text, and each line of standard output is a JSON object. With the argument "make" it prints requests instead, as Go's own
// library makes them for kubelets and their like.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net"
	"os"
)

type reading struct {
	Error         string   `json:"error,omitempty"`
	DER           string   `json:"der"`
	IsECDSA       bool     `json:"isECDSA"`
	CommonName    string   `json:"commonName"`
	Organizations []string `json:"organizations"`
	Names         int      `json:"names"`
	DNSNames      []string `json:"dnsNames"`
	Addresses     []string `json:"addresses"`
	Others        int      `json:"others"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "make" {
		makeRequests()
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		text, err := base64.StdEncoding.DecodeString(lines.Text())
		if err != nil {
			panic(err)
		}
		if err := out.Encode(read(text)); err != nil {
			panic(err)
		}
	}
}

func read(text []byte) reading {
	request, err := parse(text)
	if err != nil {
		return reading{Error: err.Error()}
	}
	_, isECDSA := request.PublicKey.(*ecdsa.PublicKey)
	result := reading{
		DER:           base64.StdEncoding.EncodeToString(request.Raw),
		IsECDSA:       isECDSA,
		CommonName:    request.Subject.CommonName,
		Organizations: append([]string{}, request.Subject.Organization...),
		Names:         len(request.Subject.Names),
		DNSNames:      append([]string{}, request.DNSNames...),
		Addresses:     []string{},
		Others:        len(request.EmailAddresses) + len(request.URIs),
	}
	for _, address := range request.IPAddresses {
		result.Addresses = append(result.Addresses, address.String())
	}
	return result
}

func parse(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("no PEM block of type CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

func makeRequests() {
	kubelet := pkix.Name{CommonName: "system:node:w", Organization: []string{"system:nodes"}}
	addresses := []net.IP{net.ParseIP("10.0.0.7"), net.ParseIP("fd00::7"), net.ParseIP("1:0:0:2::")}
	for _, template := range []x509.CertificateRequest{
		{Subject: kubelet},
		{Subject: kubelet, DNSNames: []string{"w.example.org"}, IPAddresses: addresses},
		{Subject: pkix.Name{CommonName: "gardener.cloud:node-agent:machine:w@1"}},
	} {
		for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
			key, err := ecdsa.GenerateKey(curve, rand.Reader)
			if err != nil {
				panic(err)
			}
			der, err := x509.CreateCertificateRequest(rand.Reader, &template, key)
			if err != nil {
				panic(err)
			}
			if err := pem.Encode(os.Stdout, &pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}); err != nil {
				panic(err)
			}
		}
	}
}
