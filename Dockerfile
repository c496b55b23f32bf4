# Built by `make image`. The kernels are compiled into the package for any processor of the level x86-64-v3, so that they
# serve on other machines than the one that builds, and whoever runs the image (--user).
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY deptree_cli ./deptree_cli
RUN python -m venv /opt/deptree && /opt/deptree/bin/pip install --no-cache-dir .
RUN cd /opt/deptree/lib/python3.*/site-packages/deptree_cli && /opt/deptree/bin/deptree warm -o machine_code

FROM python:3.12-slim
COPY --from=build /opt/deptree /opt/deptree
# Not the home: for an unknown user that may be /data, which is mounted.
ENV PATH=/opt/deptree/bin:$PATH XDG_CACHE_HOME=/tmp
USER 1000:1000
WORKDIR /data
ENTRYPOINT ["deptree"]
