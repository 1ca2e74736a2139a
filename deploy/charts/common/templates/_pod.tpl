{{- /*
The settings of every pod, which meet Pod Security "restricted": (dict "root" $ "pod" values). The values have
`podSecurityContext` and `imagePullSecrets`. An optional third entry, `securityContext`, adds settings.
*/}}
{{- define "common.podSettings" -}}
automountServiceAccountToken: false
# Service links would add environment variables that look like misspelled configuration.
enableServiceLinks: false
securityContext:
  {{- include "common.checkSecurityContext" .pod.podSecurityContext }}
  {{- $context := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") }}
  {{- toYaml (merge (deepCopy .pod.podSecurityContext) $context (.securityContext | default dict)) | nindent 2 }}
{{- with concat (dig "imagePullSecrets" list (.root.Values.global | default dict)) .pod.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /*
Fails if podSecurityContext is weaker than Pod Security "restricted", or has a setting that is not listed here
(https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted).
*/}}
{{- define "common.checkSecurityContext" -}}
{{- $profile := list `"type":"(RuntimeDefault|Localhost)"` "type RuntimeDefault or Localhost" }}
{{- $anyValue := list "" "" }}
{{- $rules := dict
  "runAsNonRoot" (list "^true$" "true")
  "runAsUser" (list "^[1-9][0-9]*$" "the id of a user other than root")
  "seccompProfile" $profile
  "appArmorProfile" $profile
  "seLinuxOptions" (list `^[{]("level":"[^"]*")?[}]$` "only a level")
  "fsGroup" $anyValue "fsGroupChangePolicy" $anyValue "runAsGroup" $anyValue "supplementalGroups" $anyValue
  "supplementalGroupsPolicy" $anyValue "seLinuxChangePolicy" $anyValue
}}
{{- range $name, $value := . }}
{{- $rule := get $rules $name }}
{{- if and $rule (not (kindIs "invalid" $value)) (not (regexMatch (index $rule 0) (toJson $value))) }}
{{- fail (printf `podSecurityContext.%s is %s, which Pod Security "restricted" does not allow: expected %s` $name (toJson $value) (index $rule 1)) }}
{{- else if not $rule }}
{{- fail (printf `podSecurityContext.%s may weaken Pod Security "restricted": expected only %s` $name (keys $rules | sortAlpha | join ", ")) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The settings of every container: (dict "root" $ "image" values "tag" "1.0"). */}}
{{- define "common.containerSettings" -}}
{{- $global := dig "image" dict (.root.Values.global | default dict) }}
image: {{ include "common.imageReference" . | quote }}
imagePullPolicy: {{ $global.pullPolicy | default .image.pullPolicy | quote }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "common.imageReference" -}}
{{- $global := dig "image" dict (.root.Values.global | default dict) }}
{{- with $global.registry | default .image.registry }}{{ . }}/{{ end }}{{ .image.repository }}:{{ .tag }}
{{- with .image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* The service's image, if its name has no registry: nodes then pull it from their default one. Otherwise empty. */}}
{{- define "common.imageWithoutRegistry" -}}
{{- $image := include "common.imageReference" (dict "root" . "image" .Values.image "tag" (include "common.tag" .)) }}
{{- $policy := dig "image" "pullPolicy" "" (.Values.global | default dict) | default .Values.image.pullPolicy }}
{{- if not (or (eq $policy "Never") (regexMatch `^([^/]*[.:][^/]*|localhost)/` $image)) }}{{ $image }}{{ end }}
{{- end }}

{{- /* The tag of the service's image, which is the version in labels. */}}
{{- define "common.tag" -}}
{{- dig "image" "tag" "" (.Values.global | default dict) | default .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* podSettings and containerSettings of the pods with the service's image: the service and its test. */}}
{{- define "common.ownPodSettings" -}}
{{- $context := dict }}
{{- if eq (include "common.storeType" .) "sqlite" }}
{{- with .Values.store.sqlite.fsGroup }}
{{- $context = dict "fsGroup" (int64 .) "fsGroupChangePolicy" "OnRootMismatch" }}
{{- end }}
{{- end }}
{{- include "common.podSettings" (dict "root" . "pod" .Values "securityContext" $context) }}
{{- end }}
{{- define "common.ownContainerSettings" -}}
{{- include "common.containerSettings" (dict "root" . "image" .Values.image "tag" (include "common.tag" .)) }}
{{- end }}

{{- /* Constraints with a labelSelector for the pods: (dict "constraints" list "labels" "name: value"). */}}
{{- define "common.topologySpread" -}}
{{- $selector := dict "labelSelector" (dict "matchLabels" (fromYaml .labels)) }}
{{- with .constraints }}
topologySpreadConstraints:
  {{- range . }}
  - {{- toYaml (hasKey . "labelSelector" | ternary . (merge (deepCopy .) $selector)) | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* Moves pods away from a failed node after some seconds, instead of the five minutes of Kubernetes. */}}
{{- define "common.nodeFailureTolerations" -}}
{{- range list "not-ready" "unreachable" }}
- key: node.kubernetes.io/{{ . }}
  operator: Exists
  effect: NoExecute
  tolerationSeconds: {{ $ }}
{{- end }}
{{- end }}

{{- /* The nodes of pods: (dict "pod" values "tolerations" more tolerations). */}}
{{- define "common.placement" -}}
{{- with .pod.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with concat (.tolerations | default list) .pod.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
