{{- /* What is allowed and yet worth knowing. */}}
{{- define "platform.warnings" -}}
{{- with .Values.postgres }}
{{- if .enabled }}
{{- if .storage.ephemeral }}
* All data is lost with the pod of PostgreSQL: postgres.storage.ephemeral is for trying out.
{{- else }}
* PostgreSQL is here to try out: one server, no copies, no backups. Its volume stays when the release is uninstalled.
{{- end }}
{{- if not (include "platform.postgresUsers" $ | fromYamlArray) }}
* No service keeps its data in the bundled PostgreSQL: postgres.enabled=false spares it.
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.valkey }}
{{- if .enabled }}
* Valkey is here to try out: the counts of the rate limits end with its pod.
{{- end }}
{{- end }}
{{- with .Values.edge }}
{{- if and .enabled (ne .service.type "ClusterIP") }}
* The edge speaks plain HTTP, in which tokens can be read on their way: what is in front of it has to end TLS.
{{- end }}
{{- if and .enabled (lt (int .replicas) 2) }}
* One pod is the edge: an upgrade loses nothing, but a crash or a lost node is an outage.
{{- end }}
{{- end }}
{{- if and .Values.global.ingress.enabled (eq .Values.global.ingress.controller "ingress-nginx") }}
* ingress-nginx has had no fixes since March 2026, and has known holes: plan to leave it.
{{- end }}
{{- end }}
