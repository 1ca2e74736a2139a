{{- /* The namespace of the ingress controller's pods, if it is known. */}}
{{- define "common.controllerNamespace" -}}
{{- $ingress := include "common.shared" (list . "ingress") | fromYaml }}
{{- if $ingress.enabled }}
{{- $defaults := dict "f5-nginx" "nginx-ingress" "ingress-nginx" "ingress-nginx" }}
{{- $ingress.controllerNamespace | default (get $defaults $ingress.controller) }}
{{- end }}
{{- end }}

{{- /* The response time-out of a proxy: longer than the longest request of the service. */}}
{{- define "common.proxySeconds" -}}
{{- divf (int64 .Values.config.REQUEST_TIMEOUT_MS) 1000 | ceil | int64 | add 10 }}
{{- end }}

{{- /* The largest body that the service accepts, in bytes. A service without BODY_LIMIT reads no bodies. */}}
{{- define "common.bodyLimit" -}}
{{- .Values.config.BODY_LIMIT | default 1048576 | int64 }}
{{- end }}

{{- /*
Whether the Ingress is a minion. The controller of F5 accepts only one Ingress per host: the master Ingress, which has
the certificate. Minions add paths to it.
*/}}
{{- define "common.isMinion" -}}
{{- if and (eq .controller "f5-nginx") .mergeable }}yes{{ end }}
{{- end }}

{{- /* The controller and the certificates of an Ingress, from the values ingress. */}}
{{- define "common.ingressOwner" -}}
{{- $className := eq .controller "none" | ternary "" "nginx" }}
{{- with .className | default $className }}
ingressClassName: {{ . | quote }}
{{- end }}
{{- if and .tls (not (include "common.isMinion" .)) }}
tls:
  {{- toYaml .tls | nindent 2 }}
{{- end }}
{{- end }}

{{- define "common.ingressAnnotations" -}}
{{- $ingress := include "common.shared" (list . "ingress") | fromYaml }}
{{- $bodyLimit := include "common.bodyLimit" . }}
{{- $seconds := include "common.proxySeconds" . }}
{{- $annotations := dict }}
{{- if eq $ingress.controller "f5-nginx" }}
{{- $annotations = dict
  "nginx.org/client-max-body-size" $bodyLimit
  "nginx.org/proxy-read-timeout" (printf "%ss" $seconds)
  "nginx.org/proxy-send-timeout" (printf "%ss" $seconds)
}}
{{- else if eq $ingress.controller "ingress-nginx" }}
{{- $annotations = dict
  "nginx.ingress.kubernetes.io/proxy-body-size" $bodyLimit
  "nginx.ingress.kubernetes.io/proxy-read-timeout" $seconds
  "nginx.ingress.kubernetes.io/proxy-send-timeout" $seconds
}}
{{- end }}
{{- $annotations = mergeOverwrite $annotations ($ingress.annotations | default dict) }}
{{- if include "common.isMinion" $ingress }}
{{- $_ := set $annotations "nginx.org/mergeable-ingress-type" "minion" }}
{{- end }}
{{- toYaml $annotations }}
{{- end }}

{{- define "common.ingress" -}}
{{- $ingress := include "common.shared" (list . "ingress") | fromYaml }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ include "common.name" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
  {{- with include "common.ingressAnnotations" . | fromYaml }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with include "common.ingressOwner" $ingress | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  rules:
    {{- range $ingress.hosts }}
    - host: {{ .host | quote }}
      http:
        paths:
          {{- range include "common.paths" $ | fromYamlArray }}
          - path: {{ . | quote }}
            pathType: Prefix
            backend:
              service:
                name: {{ include "common.name" $ | quote }}
                port:
                  name: http
          {{- end }}
    {{- end }}
{{- end }}
