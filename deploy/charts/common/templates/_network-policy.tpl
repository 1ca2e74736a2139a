{{- /* Blocks all traffic except what the values list. */}}
{{- define "common.networkPolicy" -}}
{{- $policy := include "common.policy" . | fromYaml -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "common.name" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "common.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - from:
        - podSelector:
            matchLabels:
              {{- include "common.callerLabels" (list .Chart.Name) | trim | nindent 14 }}
        {{- with include "common.controllerNamespace" . }}
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: {{ . | quote }}
        {{- end }}
        {{- with include "common.callers" . | trim }}
        {{- . | nindent 8 }}
        {{- end }}
      ports:
        - port: {{ include "common.httpPort" . }}
    {{- with $policy.monitoringFrom }}
    # The kubelet sends its probes from the node of the pod, which policies do not block.
    - from:
        {{- toYaml . | nindent 8 }}
      ports:
        - port: {{ include "common.healthPort" $ }}
    {{- end }}
  egress:
    {{- include "common.egressDns" . | nindent 4 }}
    {{- include "common.egress" . | trim | nindent 4 }}
{{- end }}

{{- /* Allows name resolution. No rule without peers and ports: in a rule, an empty list allows every peer or port. */}}
{{- define "common.egressDns" -}}
{{- $policy := include "common.policy" . | fromYaml -}}
{{- if and $policy.dnsTo $policy.dnsPorts -}}
- to:
    {{- toYaml $policy.dnsTo | nindent 4 }}
  ports:
    {{- range $policy.dnsPorts }}
    - { port: {{ . }}, protocol: UDP }
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
{{- end }}
{{- end }}

{{- /* The peers that may call the service: global.networkPolicy.from of a parent chart, and the chart's own. */}}
{{- define "common.callers" -}}
{{- $global := dig "networkPolicy" "from" list (.Values.global | default dict) }}
{{- with concat $global .Values.networkPolicy.from }}
{{- tpl (toYaml .) $ }}
{{- end }}
{{- end }}

{{- /* The outgoing connections: store, rate limits, public keys, traces and other services. */}}
{{- define "common.egress" -}}
{{- $policy := .Values.networkPolicy }}
{{- if eq (include "common.storeType" .) "postgres" }}
{{- include "common.egressTo" (dict "root" . "peers" $policy.databaseTo "port" (include "common.portOf" (list .Values.store.postgres 5432))) }}
{{- end }}
{{- if eq .Values.rateLimit.store "redis" }}
{{- include "common.egressTo" (dict "root" . "peers" $policy.redisTo "port" (include "common.portOf" (list .Values.rateLimit.redis 6379))) }}
{{- end }}
{{- with .Values.jwt.jwksUrl }}
{{- include "common.egressTo" (dict "root" $ "peers" $policy.jwksTo "port" (include "common.urlPort" .)) }}
{{- end }}
{{- with .Values.config.OTEL_EXPORTER_OTLP_ENDPOINT }}
{{- include "common.egressTo" (dict "root" $ "peers" $policy.collectorTo "port" (include "common.urlPort" .)) }}
{{- end }}
{{- range $name := keys .Values.upstreams | sortAlpha }}
{{- $url := include "common.upstream" (list $ $name) }}
{{- if contains "." (include "common.urlHost" $url) }}
{{- /* A policy applies to the port of the pod, which may differ from the port of its Service: allow both. */}}
{{- range list (include "common.urlPort" $url) (include "common.httpPort" $) | uniq }}
{{- include "common.egressTo" (dict "root" $ "peers" $policy.upstreamsTo "port" .) }}
{{- end }}
{{- else }}
- to:
    - podSelector:
        matchLabels:
          app.kubernetes.io/name: {{ $name | quote }}
          app.kubernetes.io/part-of: fw
  ports:
    - port: {{ include "common.httpPort" $ }}
{{- end }}
{{- end }}
{{- with $policy.egress }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Allows connections on one port to the given peers, or to any address. */}}
{{- define "common.egressTo" }}
- ports:
    - port: {{ .port }}
  {{- with .peers }}
  to:
    {{- tpl (toYaml .) $.root | nindent 4 }}
  {{- end }}
{{- end }}

{{- /* The port of a server: that of its `url`, its `port`, or the given default. */}}
{{- define "common.portOf" -}}
{{- $server := index . 0 }}
{{- $default := index . 1 }}
{{- $host := include "common.urlHost" ($server.url | default "") }}
{{- regexFind ":[0-9]+$" $host | trimPrefix ":" | default ($server.port | default $default | int64 | toString) }}
{{- end }}

{{- define "common.urlPort" -}}
{{- regexFind ":[0-9]+$" (include "common.urlHost" .) | trimPrefix ":" | default (hasPrefix "https:" . | ternary "443" "80") }}
{{- end }}

{{- /* The host and port of a URL. Helm's urlParse would print the password of a URL that it cannot read. */}}
{{- define "common.urlHost" -}}
{{- regexReplaceAll `^[^:/]*://([^/?#]*@)?([^/?#]*).*$` . "${2}" }}
{{- end }}

{{- /*
The values of the NetworkPolicy. Non-empty lists in global.networkPolicy of a parent chart replace the chart's own. The
peers in its "from" are added: see common.callers.
*/}}
{{- define "common.policy" -}}
{{- $policy := deepCopy .Values.networkPolicy }}
{{- range $key, $value := get (.Values.global | default dict) "networkPolicy" | default dict }}
{{- if $value }}{{ $_ := set $policy $key $value }}{{ end }}
{{- end }}
{{- toYaml $policy }}
{{- end }}
