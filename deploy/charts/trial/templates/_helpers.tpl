{{- define "trial.selectorLabels" -}}
app.kubernetes.io/name: {{ last . }}
app.kubernetes.io/instance: {{ (first .).Release.Name | quote }}
{{- end }}

{{- /* Name and labels of an object: (list $ "postgres"). */}}
{{- define "trial.metadata" -}}
name: {{ (first .).Release.Name }}-{{ last . }}
labels:
  {{- include "trial.selectorLabels" . | nindent 2 }}
  app.kubernetes.io/managed-by: {{ (first .).Release.Service | quote }}
  helm.sh/chart: {{ printf "%s-%s" (first .).Chart.Name (first .).Chart.Version | replace "+" "_" }}
{{- end }}

{{- /*
A generated secret: the value in the cluster, so that it survives an upgrade, or a new random one:
(list $ "postgres" "password").
*/}}
{{- define "trial.generated" -}}
{{- $existing := lookup "v1" "Secret" (first .).Release.Namespace (printf "%s-%s" (first .).Release.Name (index . 1)) | default dict }}
{{- dig "data" (last .) "" $existing | b64dec | default (randAlphaNum 40) }}
{{- end }}

{{- /* Settings of a pod: (list $ "postgres"). */}}
{{- define "trial.podSettings" -}}
{{- $values := get (first .).Values (last .) -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- toYaml $values.podSecurityContext | nindent 2 }}
{{- with dig "imagePullSecrets" list ((first .).Values.global | default dict) }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Settings of a container: (list $ "postgres"). */}}
{{- define "trial.containerSettings" -}}
{{- $values := get (first .).Values (last .) }}
{{- $global := dig "image" dict ((first .).Values.global | default dict) }}
{{- with $values.image -}}
image: {{ with $global.registry | default .registry }}{{ . }}/{{ end }}{{ .repository }}:{{ .tag }}{{ with .digest }}@{{ . }}{{ end }}
imagePullPolicy: {{ $global.pullPolicy | default .pullPolicy }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- with $values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* The Service and the NetworkPolicy of a server: (dict "root" $ "name" "postgres" "port" 5432 "services" list). */}}
{{- define "trial.network" -}}
{{- $selector := include "trial.selectorLabels" (list .root .name) -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "trial.metadata" (list .root .name) | nindent 2 }}
spec:
  # There is only one server: clients reach it as soon as it listens.
  publishNotReadyAddresses: true
  selector:
    {{- $selector | nindent 4 }}
  ports:
    - name: {{ .name }}
      port: {{ .port }}
      targetPort: {{ .name }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "trial.metadata" (list .root .name) | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- $selector | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - from:
        - podSelector:
            matchLabels: { app.kubernetes.io/instance: {{ .root.Release.Name | quote }} }
            matchExpressions:
              - { key: app.kubernetes.io/name, operator: In, values: {{ toJson .services }} }
        {{- with (get .root.Values .name).clients }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - port: {{ .port }}
  egress: []
{{- end }}
