package main

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/clientcmd/api/latest"
	"sigs.k8s.io/yaml"
)

var readers = map[string]reader{
	"quantity":   readQuantity,
	"duration":   readDuration,
	"network":    readNetwork,
	"address":    readAddress,
	"version":    readVersion,
	"time":       readTime,
	"yaml":       readYAML,
	"kubeconfig": readKubeconfig,
	"pem":        readPEM,
	"dns":        readDNS,
	"labelKey":   judgedBy(validation.IsQualifiedName),
	"labelValue": judgedBy(validation.IsValidLabelValue),
	"subdomain":  judgedBy(validation.IsDNS1123Subdomain),
	"label":      judgedBy(validation.IsDNS1123Label),
}

// In billionths.
func readQuantity(text []byte) (any, error) {
	quantity, err := resource.ParseQuantity(string(text))
	if err != nil {
		return nil, err
	}
	amount := quantity.AsDec()
	digits := amount.UnscaledBig().String()
	if amount.Sign() == 0 {
		return "0", nil
	}
	return digits + strings.Repeat("0", 9-int(amount.Scale())), nil
}

// In nanoseconds.
func readDuration(text []byte) (any, error) {
	duration, err := time.ParseDuration(string(text))
	return strconv.FormatInt(int64(duration), 10), err
}

// As both parsers of the standard library have it: they agree, or the answer is an error.
func readNetwork(text []byte) (any, error) {
	prefix, err := netip.ParsePrefix(string(text))
	if err != nil {
		return nil, err
	}
	_, network, err := net.ParseCIDR(string(text))
	if err != nil {
		return nil, err
	}
	if network.String() != prefix.Masked().String() {
		return nil, errors.New("net and net/netip differ")
	}
	return network.String(), nil
}

func readAddress(text []byte) (any, error) {
	address, err := netip.ParseAddr(string(text))
	return address.String(), err
}

func readVersion(text []byte) (any, error) {
	parsed, err := version.ParseSemantic(string(text))
	if err != nil {
		return nil, err
	}
	return []uint{parsed.Major(), parsed.Minor(), parsed.Patch()}, nil
}

// In milliseconds since 1970.
func readTime(text []byte) (any, error) {
	parsed, err := time.Parse(time.RFC3339, string(text))
	return parsed.UnixMilli(), err
}

func readYAML(text []byte) (any, error) {
	converted, err := yaml.YAMLToJSON(text)
	return json.RawMessage(converted), err
}

// As client-go's clientcmd loads it, with the cluster and the user of its current context.
func readKubeconfig(text []byte) (any, error) {
	config := api.NewConfig()
	if _, _, err := latest.Codec.Decode(text, nil, config); err != nil {
		return nil, err
	}
	context, found := config.Contexts[config.CurrentContext]
	if !found {
		return nil, errors.New("it has no current context")
	}
	cluster, hasCluster := config.Clusters[context.Cluster]
	user, hasUser := config.AuthInfos[context.AuthInfo]
	if !hasCluster || !hasUser {
		return nil, errors.New("its context has no cluster or no user")
	}
	return map[string]any{
		"server":        cluster.Server,
		"ca":            string(cluster.CertificateAuthorityData),
		"tlsServerName": cluster.TLSServerName,
		"insecure":      cluster.InsecureSkipTLSVerify,
		"token":         user.Token,
		"clientCert":    string(user.ClientCertificateData),
		"clientKey":     string(user.ClientKeyData),
		"executes":      user.Exec != nil,
		"files":         cluster.CertificateAuthority + user.ClientCertificate + user.ClientKey + user.TokenFile,
		"namespace":     context.Namespace,
	}, nil
}

type block struct {
	Type  string `json:"type"`
	Bytes []byte `json:"bytes"`
}

// All blocks, as crypto/x509 goes through a bundle.
func readPEM(text []byte) (any, error) {
	blocks := []block{}
	for rest := text; ; {
		var found *pem.Block
		if found, rest = pem.Decode(rest); found == nil {
			return blocks, nil
		}
		blocks = append(blocks, block{found.Type, found.Bytes})
	}
}

type record struct {
	Name  string `json:"name"`
	Type  uint16 `json:"type"`
	TTL   uint32 `json:"ttl"`
	Value string `json:"value"`
}

func readDNS(text []byte) (any, error) {
	var message dnsmessage.Message
	if err := message.Unpack(text); err != nil {
		return nil, err
	}
	records := []record{}
	for _, one := range message.Answers {
		found := record{one.Header.Name.String(), uint16(one.Header.Type), one.Header.TTL, ""}
		if txt, is := one.Body.(*dnsmessage.TXTResource); is {
			found.Value = strings.Join(txt.TXT, "")
		}
		records = append(records, found)
	}
	return map[string]any{"id": message.Header.ID, "answers": records}, nil
}

func judgedBy(problems func(string) []string) reader {
	return func(text []byte) (any, error) {
		if found := problems(string(text)); len(found) > 0 {
			return nil, errors.New(found[0])
		}
		return true, nil
	}
}
