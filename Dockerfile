# Built by `make image`. The kernels are compiled in the image, so that no first run waits for them.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY deptree_cli ./deptree_cli
RUN python -m venv /opt/deptree && /opt/deptree/bin/pip install --no-cache-dir .

FROM python:3.12-slim
RUN useradd --create-home deptree
COPY --from=build /opt/deptree /opt/deptree
ENV PATH=/opt/deptree/bin:$PATH
USER deptree
RUN deptree warm
WORKDIR /data
ENTRYPOINT ["deptree"]
