{{- /* The port of TLS in the pod: ports below 1024 need root. */}}
{{- define "platform.httpsPort" -}}8443{{- end }}

{{- define "platform.tlsFolder" -}}{{ include "platform.edgePrefix" . }}/tls{{- end }}

{{- /*
The certificate, and which requests are redirected to https. If the path of a certificate contains a variable, nginx
reads the file at each handshake: a renewed certificate needs no reload, which would close idle connections. Protocols
and ciphers are those of "intermediate" (https://ssl-config.mozilla.org).
*/}}
{{- define "platform.edgeTls" -}}
{{- with .Values.edge.tls }}
{{- if .secretName -}}
map "" $tls_folder { default {{ include "platform.tlsFolder" $ }}; }
ssl_certificate $tls_folder/tls.crt;
ssl_certificate_key $tls_folder/tls.key;
ssl_protocols TLSv1.2 TLSv1.3;
ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305;
ssl_session_cache shared:tls:1m;
ssl_session_tickets off;

map $https $strict_transport_security {
  {{- if .hstsSeconds }}
  on "max-age={{ .hstsSeconds | int64 }}";
  {{- end }}
  default "";
}
# Two kinds of requests are not redirected: the liveness probe, which must not depend on the certificate, and requests
# whose path nginx could not read.
map "$scheme $uri" $is_redirected {
  "~^http /(page/|problem$)" "";
  "~^http " 1;
}
{{- else -}}
map "" $strict_transport_security { default ""; }
{{- end }}
{{- end }}
{{- end }}

{{- /* The part of listen.conf for TLS. A header cannot end a connection of HTTP/2: nginx sends GOAWAY itself. */}}
{{- define "platform.listenTls" -}}
{{- with .Values.edge.tls }}
{{- if .secretName }}
if ($server_protocol = HTTP/2.0) {
  set $edge_connection "";
}

listen {{ include "platform.httpsPort" $ }} ssl;
http2 on;
if ($is_redirected) {
  return 308 https://$host{{ if ne (int .port) 443 }}:{{ .port }}{{ end }}$request_uri;
}
add_header Strict-Transport-Security $strict_transport_security always;
{{- end }}
{{- end }}
{{- end }}

{{- /* Why the Secret of the certificate cannot be used. "helm template" cannot read it, and finds no error. */}}
{{- define "platform.tlsErrors" -}}
{{- $namespace := .Release.Namespace }}
{{- with .Values.edge }}
{{- $name := .tls.secretName }}
{{- if and .enabled $name }}
{{- range $way, $certificate := dict "ingress" "in global.ingress.tls" "httpRoute" "at the gateway" }}
{{- if dig $way "enabled" false $.Values.global }}
edge.tls.secretName is set, but global.{{ $way }} sends plain HTTP to the edge, which would redirect it forever: expected the certificate {{ $certificate }}
{{- end }}
{{- end }}
{{- $secret := lookup "v1" "Secret" $namespace $name }}
{{- if $secret }}
{{- range list "tls.crt" "tls.key" }}
{{- if not (dig "data" . "" $secret) }}
edge.tls.secretName is {{ $name }}, but that Secret has no {{ . }}: expected a Secret of type kubernetes.io/tls
{{- end }}
{{- end }}
{{- else if lookup "v1" "ConfigMap" $namespace "kube-root-ca.crt" }}
edge.tls.secretName is {{ $name }}, but {{ $namespace }} has no such Secret: expected one of type kubernetes.io/tls
{{- end }}
{{- end }}
{{- end }}
{{- end }}
