{{- /* The environment of the official image. PGDATA is a subfolder: the top folder of a volume can contain lost+found. */}}
{{- define "platform.postgresEnvironment" -}}
- name: POSTGRES_USER
  value: fw
- name: POSTGRES_DB
  value: fw
- name: POSTGRES_PASSWORD_FILE
  value: /run/secrets/postgres/password
- name: PGDATA
  value: /var/lib/postgresql/data/pgdata
{{- end }}

{{- define "platform.postgresMounts" -}}
- { name: data, mountPath: /var/lib/postgresql/data }
- { name: password, mountPath: /run/secrets/postgres, readOnly: true }
- { name: sockets, mountPath: /var/run/postgresql }
- { name: temporary, mountPath: /tmp }
{{- end }}

{{- define "platform.postgresProbe" -}}
exec:
  command: [pg_isready, --quiet, --host, 127.0.0.1, --username, fw, --dbname, fw]
{{- end }}
