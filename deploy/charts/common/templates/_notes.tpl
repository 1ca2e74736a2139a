{{- define "common.notes" -}}
{{- include "common.values" . }}
{{- $name := include "common.name" . }}
{{- $ingress := include "common.shared" (list . "ingress") | fromYaml }}
{{- $route := include "common.shared" (list . "httpRoute") | fromYaml }}
{{- $paths := include "common.paths" . | fromYamlArray | join ", " }}
{{ .Chart.Name }} is installed as {{ $name }} in the namespace {{ .Release.Namespace }}, with the image
{{ include "common.imageReference" (dict "root" . "image" .Values.image "tag" (include "common.tag" .)) }}

Addresses:

  Cluster: {{ include "common.address" . }}{{ if .Values.networkPolicy.enabled }} (pods of this namespace with the label {{ include "common.callerLabels" (list .Chart.Name) | trim }}){{ end }}
{{- if $ingress.enabled }}
{{- $tlsIsInMaster := and (include "common.isMinion" $ingress) (not $ingress.tls) }}
{{- range $ingress.hosts }}
  Ingress: {{ $ingress.tls | empty | ternary "http" "https" }}://{{ .host }}{{ if $tlsIsInMaster }} (https if the master Ingress has a certificate){{ end }}: {{ $paths }}
{{- end }}
{{- end }}
{{- if $route.enabled }}
{{- range include "common.routeHosts" $route | fromYamlArray }}
  Gateway: https://{{ . }} (http if its listener has no certificate): {{ $paths }}
{{- end }}
{{- end }}

Try it from this machine:

  {{- if .Values.progressiveDelivery.enabled }}
  kubectl --namespace {{ .Release.Namespace }} wait rollout/{{ $name }} --for=jsonpath='{.status.phase}'=Healthy --timeout=5m
  {{- else }}
  kubectl --namespace {{ .Release.Namespace }} rollout status deployment/{{ $name }}
  {{- end }}
  kubectl --namespace {{ .Release.Namespace }} port-forward service/{{ $name }} 8080:{{ .Values.service.port }} &
  sleep 2
  {{- with include "common.token" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{ .Files.Get "files/curl.txt" | trim | nindent 2 | trim }}
  helm test {{ .Release.Name }} --namespace {{ .Release.Namespace }}
{{- with include "common.warnings" . | trim }}

{{ . }}
{{- end }}
{{- end }}

{{- define "common.address" -}}
http://{{ include "common.name" . }}.{{ .Release.Namespace }}{{ if ne (int .Values.service.port) 80 }}:{{ .Values.service.port }}{{ end }}
{{- end }}

{{- /* Shell lines that set TOKEN, for a service that requires tokens. */}}
{{- define "common.token" -}}
{{- with .Values.jwt }}
{{- if not .required }}
{{- else if .jwksUrl }}
# A token from {{ .issuer }} for {{ .audience }}, signed with a key from {{ .jwksUrl }}:
TOKEN=…
{{- else if .secret }}
{{- include "common.tokenLines" (dict "root" $ "secret" (include "common.name" $) "key" "JWT_SECRET") }}
{{- else }}
{{- include "common.tokenLines" (dict "root" $ "secret" (tpl .existingSecret.name $) "key" .existingSecret.key) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Shell lines that sign a token for the user ada, valid for an hour: (dict "root" $ "secret" name "key" key). */}}
{{- define "common.tokenLines" -}}
{{- $jwt := .root.Values.jwt }}
SECRET=$(kubectl --namespace {{ .root.Release.Namespace }} get secret {{ .secret }} -o jsonpath='{.data.{{ .key | replace "." "\\." }}}' | base64 -d)
encode() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
SIGNED=$(printf '{"alg":"HS256","typ":"JWT"}' | encode).$(printf '{"iss":"{{ $jwt.issuer }}","aud":"{{ $jwt.audience }}","sub":"ada","tier":"free","exp":%d}' $(( $(date +%s) + 3600 )) | encode)
TOKEN=$SIGNED.$(printf %s "$SIGNED" | openssl dgst -sha256 -hmac "$SECRET" -binary | encode)
{{- end }}

{{- /* Settings that are allowed but risky. */}}
{{- define "common.warnings" -}}
{{- $ingress := include "common.shared" (list . "ingress") | fromYaml }}
{{- if and $ingress.enabled (eq $ingress.controller "ingress-nginx") }}
* ingress-nginx has had no fixes since March 2026 and has known vulnerabilities: plan to replace it.
{{- end }}
{{- if and $ingress.enabled (include "common.isMinion" $ingress) }}
* The controller serves this Ingress (a minion) once there is a master Ingress for {{ (first $ingress.hosts).host }}. The chart platform creates one.
{{- end }}
{{- with include "common.imageWithoutRegistry" . }}
* Unless the nodes have the image {{ . }}, they pull it from Docker Hub, which does not have it (ErrImagePull): set image.registry.
{{- end }}
{{- if and (eq (include "common.storeType" .) "sqlite") .Values.store.sqlite.ephemeral }}
* The data is lost when the pod ends: store.sqlite.ephemeral is for trials.
{{- end }}
{{- range $name := keys .Values.upstreams | sortAlpha }}
* Statistics come from {{ include "common.upstream" (list $ $name) }}. While it is unavailable, reports are incomplete and list what is missing.
{{- end }}
{{- if lt (include "common.minReplicas" . | int) 2 }}
* There can be only one pod: upgrades, node drains and crashes cause an outage.
{{- end }}
{{- if and .Values.autoscaling.enabled (not (.Capabilities.APIVersions.Has "metrics.k8s.io/v1beta1")) }}
* The cluster has no resource metrics API (metrics-server): the autoscaler does not work.
{{- end }}
{{- if and .Values.autoscaling.enabled .Values.autoscaling.requestsPerSecond (not (.Capabilities.APIVersions.Has "custom.metrics.k8s.io/v1beta1")) (not (.Capabilities.APIVersions.Has "custom.metrics.k8s.io/v1beta2")) }}
* The cluster has no custom metrics API: the autoscaler uses CPU only.
{{- end }}
{{- if not .Values.networkPolicy.enabled }}
* There is no NetworkPolicy: every pod of the cluster may call this service.
{{- end }}
{{- end }}
