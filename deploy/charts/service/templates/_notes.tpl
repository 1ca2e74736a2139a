{{- define "service.notes" -}}
{{- $name := include "service.name" . }}
{{- $ingress := include "service.shared" (list . "ingress") | fromYaml }}
{{- $route := include "service.shared" (list . "httpRoute") | fromYaml }}
{{ .Chart.Name }} {{ include "service.version" . }} is installed as {{ $name }} in {{ .Release.Namespace }}.

In the cluster:   http://{{ $name }}.{{ .Release.Namespace }}{{ if .Values.networkPolicy.enabled }}, for pods of this namespace labelled {{ include "service.callerLabels" (list .Chart.Name) | trim }}{{ end }}
{{- if $ingress.enabled }}
At the ingress:   {{ if $ingress.tlsSecret }}https{{ else }}http{{ end }}://{{ $ingress.host }}/api/v2/{{ .Chart.Name }}
{{- end }}
{{- if $route.enabled }}
At the gateway:   {{ range $index, $host := $route.hostnames }}{{ if $index }}, {{ end }}http://{{ . }}/api/v2/{{ $.Chart.Name }}{{ else }}/api/v2/{{ .Chart.Name }}{{ end }}
{{- end }}

From here:

  kubectl --namespace {{ .Release.Namespace }} rollout status deployment/{{ $name }}
  kubectl --namespace {{ .Release.Namespace }} port-forward service/{{ $name }} 8080:80 &
  sleep 2
  {{- with include "service.token" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{ .Files.Get "files/curl.txt" | trim | nindent 2 | trim }}
  helm test {{ .Release.Name }} --namespace {{ .Release.Namespace }}
{{- with include "service.warnings" . | trim }}

{{ . }}
{{- end }}
{{- end }}

{{- /* How to come by the token that a service asks for, if it does. */}}
{{- define "service.token" -}}
{{- with .Values.jwt }}
{{- if .jwksUrl }}
# One that {{ .issuer }} made for {{ .audience }}, with a key of {{ .jwksUrl }}:
TOKEN=…
{{- else if .secret }}
{{- include "service.tokenLines" (dict "root" $ "secret" (include "service.name" $) "key" "JWT_SECRET") }}
{{- else }}
{{- include "service.tokenLines" (dict "root" $ "secret" (tpl .existingSecret.name $) "key" .existingSecret.key) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Lines that sign a token for ada, good for an hour: (dict "root" $ "secret" "a Secret" "key" "its key"). */}}
{{- define "service.tokenLines" -}}
{{- $jwt := .root.Values.jwt }}
SECRET=$(kubectl --namespace {{ .root.Release.Namespace }} get secret {{ .secret }} -o jsonpath='{.data.{{ .key | replace "." "\\." }}}' | base64 -d)
encode() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
SIGNED=$(printf '{"alg":"HS256","typ":"JWT"}' | encode).$(printf '{"iss":"{{ $jwt.issuer }}","aud":"{{ $jwt.audience }}","sub":"ada","tier":"free","exp":%d}' $(( $(date +%s) + 3600 )) | encode)
TOKEN=$SIGNED.$(printf %s "$SIGNED" | openssl dgst -sha256 -hmac "$SECRET" -binary | encode)
{{- end }}

{{- /* What is allowed and yet worth knowing. */}}
{{- define "service.warnings" -}}
{{- $ingress := include "service.shared" (list . "ingress") | fromYaml }}
{{- if and $ingress.enabled (eq $ingress.controller "ingress-nginx") }}
* ingress-nginx has had no fixes since March 2026, and has known holes: plan to leave it.
{{- end }}
{{- if and $ingress.enabled (eq $ingress.controller "f5-nginx") $ingress.mergeable }}
* The controller serves this Ingress, a minion, once there is a master for {{ $ingress.host }}: the platform chart brings one.
{{- end }}
{{- with .Values.store }}
{{- if and (eq .type "sqlite") .sqlite.ephemeral }}
* The data is lost with the pod: store.sqlite.ephemeral is for trying out.
{{- end }}
{{- end }}
{{- if .Values.upstreams }}
* Figures come from {{ include "service.upstream" (list . "users") }} and {{ include "service.upstream" (list . "catalog") }}: without one of them, a report says what is missing.
{{- end }}
{{- if lt (include "service.leastReplicas" . | int) 2 }}
* One pod serves: an upgrade, a drained node or a crash is an outage.
{{- end }}
{{- if and .Values.autoscaling.enabled (not (.Capabilities.APIVersions.Has "metrics.k8s.io/v1beta1")) }}
* The cluster has no API for resource metrics (metrics-server): the autoscaler cannot tell how busy a pod is.
{{- end }}
{{- if and .Values.autoscaling.enabled .Values.autoscaling.requestsPerSecond (not (.Capabilities.APIVersions.Has "custom.metrics.k8s.io/v1beta1")) (not (.Capabilities.APIVersions.Has "custom.metrics.k8s.io/v1beta2")) }}
* The cluster has no API for custom metrics: the autoscaler goes by the processor alone.
{{- end }}
{{- if not .Values.networkPolicy.enabled }}
* There is no NetworkPolicy: every pod of the cluster may call this service.
{{- end }}
{{- end }}
