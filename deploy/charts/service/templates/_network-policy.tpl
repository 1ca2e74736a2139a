{{- /* The first policy blocks all traffic, the second allows what the values list. */}}
{{- define "service.networkPolicies" -}}
{{- if .Values.networkPolicy.enabled }}
{{- $policy := include "service.policy" . | fromYaml -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "service.name" . }}-deny
  labels:
    {{- include "service.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "service.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "service.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - from:
        - podSelector:
            matchLabels:
              {{- include "service.callerLabels" (list .Chart.Name) | trim | nindent 14 }}
        {{- with include "service.controllerNamespace" . }}
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: {{ . }}
        {{- end }}
        {{- with include "service.callers" . | trim }}
        {{- . | nindent 8 }}
        {{- end }}
      ports:
        - port: {{ include "service.httpPort" . }}
    {{- with $policy.monitoringFrom }}
    # Probes of the kubelet come from the node of the pod, which policies do not block.
    - from:
        {{- toYaml . | nindent 8 }}
      ports:
        - port: {{ include "service.healthPort" $ }}
    {{- end }}
  egress:
    {{- include "service.egressDns" . | nindent 4 }}
    {{- include "service.egress" . | trim | nindent 4 }}
{{- end }}
{{- end }}

{{- /* An empty list would allow every peer or port, so the rule needs both. */}}
{{- define "service.egressDns" -}}
{{- $policy := include "service.policy" . | fromYaml -}}
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

{{- /* The peers that values allow: those that the parent chart shares, and the chart's own. */}}
{{- define "service.callers" -}}
{{- $global := dig "networkPolicy" "from" list (.Values.global | default dict) }}
{{- with concat $global .Values.networkPolicy.from }}
{{- tpl (toYaml .) $ }}
{{- end }}
{{- end }}

{{- /* The outgoing connections: store, rate limits, public keys, traces and other services. */}}
{{- define "service.egress" -}}
{{- $policy := .Values.networkPolicy }}
{{- if eq (include "service.storeType" .) "postgres" }}
{{- include "service.egressTo" (dict "root" . "peers" $policy.databaseTo "port" (include "service.portOf" (list .Values.store.postgres 5432))) }}
{{- end }}
{{- with .Values.rateLimit }}
{{- if eq .store "redis" }}
{{- include "service.egressTo" (dict "root" $ "peers" $policy.redisTo "port" (include "service.portOf" (list .redis 6379))) }}
{{- end }}
{{- end }}
{{- with .Values.jwt }}
{{- if .jwksUrl }}
{{- include "service.egressTo" (dict "root" $ "peers" $policy.jwksTo "port" (include "service.urlPort" .jwksUrl)) }}
{{- end }}
{{- end }}
{{- with .Values.config.OTEL_EXPORTER_OTLP_ENDPOINT }}
{{- include "service.egressTo" (dict "root" $ "peers" $policy.collectorTo "port" (include "service.urlPort" .)) }}
{{- end }}
{{- range $name := keys (.Values.upstreams | default dict) | sortAlpha }}
{{- $url := include "service.upstream" (list $ $name) }}
{{- if contains "." (include "service.urlHost" $url) }}
{{- /* A policy applies to the port of the pod, which may differ from that of its Service. */}}
{{- range list (include "service.urlPort" $url) (include "service.httpPort" $) | uniq }}
{{- include "service.egressTo" (dict "root" $ "peers" $policy.upstreamsTo "port" .) }}
{{- end }}
{{- else }}
- to:
    - podSelector:
        matchLabels:
          app.kubernetes.io/name: {{ $name }}
          app.kubernetes.io/part-of: fw
  ports:
    - port: {{ include "service.httpPort" $ }}
{{- end }}
{{- end }}
{{- with $policy.egress }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Allows connections on one port to the given peers, or to any address. */}}
{{- define "service.egressTo" }}
- ports:
    - port: {{ .port }}
  {{- with .peers }}
  to:
    {{- tpl (toYaml .) $.root | nindent 4 }}
  {{- end }}
{{- end }}

{{- /* The port of a server: that of its `url`, its `port`, or the given default. */}}
{{- define "service.portOf" -}}
{{- $server := index . 0 }}
{{- $default := index . 1 }}
{{- $host := include "service.urlHost" ($server.url | default "") }}
{{- regexFind ":[0-9]+$" $host | trimPrefix ":" | default ($server.port | default $default | int64 | toString) }}
{{- end }}

{{- define "service.urlPort" -}}
{{- regexFind ":[0-9]+$" (include "service.urlHost" .) | trimPrefix ":" | default (hasPrefix "https:" . | ternary "443" "80") }}
{{- end }}

{{- /* The host and port of a URL. Helm's urlParse would print the password of a URL that it cannot read. */}}
{{- define "service.urlHost" -}}
{{- regexReplaceAll `^[^:/]*://([^/?#]*@)?([^/?#]*).*$` . "${2}" }}
{{- end }}

{{- /*
The values of the NetworkPolicy. Non-empty lists of the parent chart replace the chart's own, except the
peers in "from", which are added.
*/}}
{{- define "service.policy" -}}
{{- $policy := deepCopy .Values.networkPolicy }}
{{- range $key, $value := get (.Values.global | default dict) "networkPolicy" | default dict }}
{{- if $value }}{{ $_ := set $policy $key $value }}{{ end }}
{{- end }}
{{- toYaml $policy }}
{{- end }}
