{{- /* The namespace that an ingress controller's requests come from, if there is one. */}}
{{- define "service.controllerNamespace" -}}
{{- $ingress := include "service.shared" (list . "ingress") | fromYaml }}
{{- if $ingress.enabled }}
{{- $usual := dict "f5-nginx" "nginx-ingress" "ingress-nginx" "ingress-nginx" }}
{{- $ingress.controllerNamespace | default (get $usual $ingress.controller) }}
{{- end }}
{{- end }}

{{- /* How long a controller must wait for an answer: longer than the service lets one take. */}}
{{- define "service.proxySeconds" -}}
{{- divf (int64 .Values.config.REQUEST_TIMEOUT_MS) 1000 | ceil | int64 | add 10 }}
{{- end }}

{{- /* The largest body that the service accepts, in bytes. */}}
{{- define "service.bodyLimit" -}}
{{- .Values.config.BODY_LIMIT | default 1048576 | int64 }}
{{- end }}

{{- /*
What a controller must be told. That of F5 accepts one Ingress for a host, which this one joins as a
minion of the platform's master, unless it has the host to itself.
*/}}
{{- define "service.ingressAnnotations" -}}
{{- $ingress := include "service.shared" (list . "ingress") | fromYaml }}
{{- $bodyLimit := include "service.bodyLimit" . }}
{{- $seconds := include "service.proxySeconds" . }}
{{- $annotations := dict }}
{{- if eq $ingress.controller "f5-nginx" }}
{{- $annotations = dict
  "nginx.org/client-max-body-size" $bodyLimit
  "nginx.org/proxy-read-timeout" (printf "%ss" $seconds)
  "nginx.org/proxy-send-timeout" (printf "%ss" $seconds)
}}
{{- if $ingress.mergeable }}
{{- $_ := set $annotations "nginx.org/mergeable-ingress-type" "minion" }}
{{- end }}
{{- else if eq $ingress.controller "ingress-nginx" }}
{{- $annotations = dict
  "nginx.ingress.kubernetes.io/proxy-body-size" $bodyLimit
  "nginx.ingress.kubernetes.io/proxy-read-timeout" $seconds
  "nginx.ingress.kubernetes.io/proxy-send-timeout" $seconds
}}
{{- end }}
{{- toYaml (mergeOverwrite $annotations ($ingress.annotations | default dict)) }}
{{- end }}

{{- define "service.ingress" -}}
{{- $ingress := include "service.shared" (list . "ingress") | fromYaml }}
{{- if $ingress.enabled }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
  {{- with include "service.ingressAnnotations" . | fromYaml }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- $className := eq $ingress.controller "none" | ternary "" "nginx" }}
  {{- with $ingress.className | default $className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- with $ingress.tlsSecret }}
  tls:
    - hosts: [{{ $ingress.host | quote }}]
      secretName: {{ . }}
  {{- end }}
  rules:
    - host: {{ $ingress.host | quote }}
      http:
        paths:
          {{- range include "service.paths" . | fromYamlArray }}
          - path: {{ . }}
            pathType: Prefix
            backend:
              service:
                name: {{ include "service.name" $ }}
                port:
                  name: http
          {{- end }}
{{- end }}
{{- end }}
