package org.opendedup.sar.sdfs.cli.console;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The files of the page: resources beside this class, in memory. No other name leads to a file. */
final class StaticFiles {
    private static final List<String> NAMES = List.of(
            "index.html",
            "console.css",
            "main.js",
            "api.js",
            "dom.js",
            "format.js",
            "charts.js",
            "volume.js",
            "icon.svg");

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml");

    private final Map<String, StaticFile> byPath = new HashMap<>();

    /** Content and type of a file. */
    record StaticFile(byte[] content, String type) {}

    StaticFiles() throws IOException {
        for (String name : NAMES) {
            try (InputStream in = StaticFiles.class.getResourceAsStream(name)) {
                if (in == null) {
                    throw new IOException("the program has no file " + name);
                }
                byPath.put(
                        "/" + name,
                        new StaticFile(
                                in.readAllBytes(),
                                Objects.requireNonNull(TYPES.get(name.substring(name.lastIndexOf('.') + 1)))));
            }
        }
        byPath.put("/", Objects.requireNonNull(byPath.get("/index.html")));
    }

    Optional<StaticFile> find(String path) {
        return Optional.ofNullable(byPath.get(path));
    }
}
