package org.opendedup.sar.mounted;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.sdfs.cli.report.Json;

/** A headless Chromium with one page, driven by its DevTools protocol. */
final class Browser implements AutoCloseable {
    private static final int ANSWER_SECONDS = 30;
    private static final int END_SECONDS = 20;

    private final Process process;
    /** Of threads that the JDK's client ends some time after its end. */
    private final ThreadGroup group = new ThreadGroup("browser");

    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        var thread = new Thread(group, task, "browser");
        thread.setDaemon(true);
        return thread;
    });
    private final WebSocket socket;
    private final AtomicInteger number = new AtomicInteger();
    private final Map<Integer, CompletableFuture<Map<String, Object>>> answers = new ConcurrentHashMap<>();

    /** Errors of scripts, and what the page's policy forbade. */
    final List<String> errors = new CopyOnWriteArrayList<>();

    /** Returns the program; empty if the machine has none. */
    static Optional<Path> program() {
        return Stream.of("chromium", "chromium-browser", "google-chrome")
                .map(name -> Path.of("/usr/bin", name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** @param profile a folder for it */
    Browser(Path profile) throws Exception {
        Path log = profile.resolve("log");
        Files.createDirectories(profile);
        process = new ProcessBuilder(
                        program().orElseThrow().toString(),
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--no-first-run",
                        "--disable-extensions",
                        "--disable-background-networking",
                        "--hide-scrollbars",
                        "--force-color-profile=srgb",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            Path port = profile.resolve("DevToolsActivePort");
            TestWait.until(() -> Files.exists(port) && Files.readAllLines(port).size() == 2);
            HttpClient client = threads.submit(HttpClient.newBuilder().executor(threads)::build)
                    .get();
            socket = client.newWebSocketBuilder()
                    .buildAsync(page(client, Files.readAllLines(port).get(0)), new Answers())
                    .get(ANSWER_SECONDS, TimeUnit.SECONDS);
            ask("Page.enable", Map.of());
            ask("Runtime.enable", Map.of());
            ask("Log.enable", Map.of());
        } catch (Exception | Error e) {
            process.destroyForcibly();
            threads.shutdownNow();
            throw e;
        }
    }

    /** Waits for the page, which Chromium makes some time after it listens. */
    private static URI page(HttpClient client, String port) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json/list"))
                .build();
        List<URI> pages = new ArrayList<>();
        TestWait.until(() -> {
            String list = client.send(request, BodyHandlers.ofString()).body();
            Json.objects(Json.read("{\"all\":" + list + "}"), "all").stream()
                    .filter(target -> target.get("type").equals("page"))
                    .map(target -> URI.create((String) target.get("webSocketDebuggerUrl")))
                    .forEach(pages::add);
            return !pages.isEmpty();
        });
        return pages.get(0);
    }

    private final class Answers implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                try {
                    got(Json.read(text.toString()));
                } catch (IOException e) {
                    errors.add(e.toString());
                }
                text.setLength(0);
            }
            from.request(1);
            return null;
        }
    }

    private void got(Map<String, Object> message) {
        if (message.get("id") instanceof Integer id) {
            answers.remove(id).complete(message);
        } else if ("Runtime.exceptionThrown".equals(message.get("method"))
                || "Log.entryAdded".equals(message.get("method"))
                        && Json.line(message).contains("\"level\":\"error\"")) {
            errors.add(Json.line(message.get("params")));
        }
    }

    private Map<String, Object> ask(String method, Map<String, ?> parameters) throws Exception {
        int id = number.incrementAndGet();
        var answer = new CompletableFuture<Map<String, Object>>();
        answers.put(id, answer);
        socket.sendText(Json.line(Map.of("id", id, "method", method, "params", parameters)), true)
                .get(ANSWER_SECONDS, TimeUnit.SECONDS);
        Map<String, Object> got = answer.get(ANSWER_SECONDS, TimeUnit.SECONDS);
        if (got.containsKey("error")) {
            throw new IOException(method + ": " + got.get("error"));
        }
        return Json.object(got, "result");
    }

    /** Opens a page, and waits until it is painted. */
    void open(URI page) throws Exception {
        ask("Page.navigate", Map.of("url", page.toString()));
        until("performance.getEntriesByName('first-contentful-paint').length === 1");
    }

    /** Returns the value of an expression of JavaScript. */
    Object eval(String expression) throws Exception {
        Map<String, Object> result = ask(
                "Runtime.evaluate",
                Map.of("expression", expression, "returnByValue", true, "awaitPromise", true, "userGesture", true));
        if (result.containsKey("exceptionDetails")) {
            throw new IOException(expression + ": " + result.get("exceptionDetails"));
        }
        return Json.object(result, "result").get("value");
    }

    /** Waits until an expression is true; a failure says which, and what the page showed. */
    void until(String expression) throws Exception {
        try {
            TestWait.until(() -> Boolean.TRUE.equals(eval(expression)));
        } catch (AssertionError e) {
            throw new AssertionError(expression + " of " + eval("document.body.innerText.replaceAll(/\\s+/g, ' ')"), e);
        }
    }

    /**
     * Types a text over that of the input with the focus; again, if Chromium dropped it, as it does soon after opening.
     */
    void type(String text) throws Exception {
        TestWait.until(() -> {
            eval("document.activeElement.select()");
            ask("Input.insertText", Map.of("text", text));
            return text.equals(eval("document.activeElement.value"));
        });
    }

    /** Presses and releases a key: Tab, Enter. */
    void press(String key) throws Exception {
        int code = key.equals("Tab") ? 9 : 13;
        var event =
                Map.of("key", key, "code", key, "windowsVirtualKeyCode", code, "text", key.equals("Enter") ? "\r" : "");
        for (String type : List.of("keyDown", "keyUp")) {
            Map<String, Object> parameters = new HashMap<>(event);
            parameters.put("type", type);
            ask("Input.dispatchKeyEvent", parameters);
        }
    }

    void size(int width, int height) throws Exception {
        ask(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }

    /** @param name light or dark */
    void scheme(String name) throws Exception {
        ask(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", name))));
    }

    /** Saves what the page shows, whole, as PNG. */
    void screenshot(Path file) throws Exception {
        Map<String, Object> shot =
                ask("Page.captureScreenshot", Map.of("format", "png", "captureBeyondViewport", true));
        Files.createDirectories(file.getParent());
        Files.write(file, Base64.getDecoder().decode((String) shot.get("data")));
    }

    @Override
    public void close() throws Exception {
        socket.abort();
        threads.shutdownNow();
        process.descendants().forEach(ProcessHandle::destroy);
        process.destroy();
        if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
    }
}
