{{- /* Nothing comes in and nothing goes out, but for what the second policy lists. */}}
{{- define "service.network" -}}
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
    # The kubelet's probes come from the pod's own node, which no policy shuts out.
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

{{- /* The peers that values let in: a platform's for all of its charts, and the chart's own. */}}
{{- define "service.callers" -}}
{{- $global := dig "networkPolicy" "from" list (.Values.global | default dict) }}
{{- with concat $global .Values.networkPolicy.from }}
{{- tpl (toYaml .) $ }}
{{- end }}
{{- end }}

{{- /* Whom this service calls: its store, the server of its limits, its keys, other services, traces. */}}
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
{{- /* A policy sees the port of a pod, not that of the Service in front of it. */}}
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

{{- /* A rule that lets out to peers, or to any address where none are named, on one port. */}}
{{- define "service.egressTo" }}
- ports:
    - port: {{ .port }}
  {{- with .peers }}
  to:
    {{- tpl (toYaml .) $.root | nindent 4 }}
  {{- end }}
{{- end }}

{{- /* The port of a server that is named by its URL here, or in a Secret and by a value. */}}
{{- define "service.portOf" -}}
{{- $server := index . 0 }}
{{- $usual := index . 1 }}
{{- $host := include "service.urlHost" ($server.url | default "") }}
{{- regexFind ":[0-9]+$" $host | trimPrefix ":" | default ($server.port | default $usual | int64 | toString) }}
{{- end }}

{{- define "service.urlPort" -}}
{{- regexFind ":[0-9]+$" (include "service.urlHost" .) | trimPrefix ":" | default (hasPrefix "https:" . | ternary "443" "80") }}
{{- end }}

{{- /* The host and port of a URL. Helm's urlParse tells the whole of one that it cannot read, password included. */}}
{{- define "service.urlHost" -}}
{{- regexReplaceAll `^[^:/]*://([^/?#]*@)?([^/?#]*).*$` . "${2}" }}
{{- end }}
