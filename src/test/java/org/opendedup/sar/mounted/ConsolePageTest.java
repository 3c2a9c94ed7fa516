package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.console.ConsoleServer;
import org.opendedup.sar.sdfs.cli.console.ConsoleUsers;
import org.opendedup.sar.sdfs.cli.console.ListenAddress;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jolokia.Role;

/**
 * The console in a headless Chromium, of a mounted volume with an SSD that programs write and read. After a failure,
 * {@code target/console} has what the page showed; with {@code -Dsar.screenshots=true} also otherwise.
 */
@Timeout(300)
class ConsolePageTest {
    private static final String HOSTILE = "<img src=x onerror=\"document.title='hurt'\">";
    private static final Path SHOTS = Commands.projectFolder().resolve("target/console");

    @TempDir
    Path folder;

    private MountedVolume volume;
    private SsdLoad load;
    private Browser browser;
    private ConsoleServer console;
    private ConsoleUsers users;

    @Test
    void anAdministratorSeesAndChangesAVolumeUnderLoad() throws Exception {
        assumeTrue(Browser.program().isPresent(), "needs chromium");
        Path ssd = folder.resolve("ssd");
        try (MountedVolume made = MountedVolume.makeWith(
                folder.resolve("pool"),
                "--object-store="
                        + Files.createDirectory(folder.resolve("store")).toUri(),
                "--sar-ssd-location=" + ssd,
                "--sar-ssd-capacity=100MB",
                "--sar-policy=reference-count",
                "--sar-reference-count-threshold=2")) {
            volume = made.mount();
            load = new SsdLoad(volume);
            load.isServedBy(ssd);
            Bytes.writeAndSync(volume.mountPoint().resolve(HOSTILE.replace('/', '-')), Bytes.random(7, 1 << 20));
            // The name of a file of the folder of volume files can be anything.
            Files.writeString(volume.configFolder().resolve(HOSTILE.replace('/', '-') + "-volume-cfg.xml"), "<no/>");
            users = new ConsoleUsers(volume.configFolder());
            var ends = new AtomicBoolean();
            var failure = new AtomicReference<Throwable>();
            Thread loading = new Thread(() -> loadUntil(ends, failure), "load");
            loading.start();
            try (ConsoleServer served = start();
                    Browser opened = new Browser(folder.resolve("profile"))) {
                console = served;
                browser = opened;
                try {
                    look();
                } catch (Throwable e) {
                    browser.screenshot(SHOTS.resolve("failure.png"));
                    throw e;
                }
            } finally {
                ends.set(true);
                loading.join();
            }
            assertEquals(null, failure.get());
            volume.unmount();
        }
    }

    private ConsoleServer start() throws Exception {
        var nowhere = new PrintWriter(new StringWriter());
        var environment =
                new Environment(Map.of("SDFS_CONFIG_DIR", volume.configFolder().toString()), nowhere, nowhere);
        return ConsoleServer.start(
                environment, ListenAddress.parse("127.0.0.1:0"), null, users, line -> {}, Clock.systemUTC());
    }

    private void loadUntil(AtomicBoolean ends, AtomicReference<Throwable> failure) {
        try {
            while (!ends.get()) {
                List<Long> pairs = load.write(4);
                load.read(pairs);
                Thread.sleep(100);
            }
        } catch (Throwable e) {
            failure.set(e);
        }
    }

    private void shot(String name) throws Exception {
        if (Boolean.getBoolean("sar.screenshots")) {
            browser.screenshot(SHOTS.resolve(name + ".png"));
        }
    }

    private void look() throws Exception {
        browser.size(1280, 900);
        browser.scheme("light");
        browser.open(console.page("127.0.0.1"));
        logsInByKeyboard();
        shot("volumes");
        opensTheVolume();
        showsTheVolume();
        explainsFiles();
        showsDemotionAfterAChange();
        refusesWhatIsNotAllowed();
        stopsAJob();
        fitsEachScreen();
        isLabelled();
        aReaderMayNotChange();
        assertEquals(List.of(), browser.errors, "errors of the page");
    }

    private void logsInByKeyboard() throws Exception {
        browser.until("document.activeElement?.name === 'user'");
        shot("login");
        browser.type("admin");
        browser.press("Tab");
        browser.type(users.add("admin", Role.CHANGE));
        browser.press("Enter");
        browser.until("document.querySelectorAll('a.card').length === 2");
        browser.until("document.querySelector('a.card[href=\"#/pool\"] .pill')?.textContent === 'well'");
        assertEquals(
                HOSTILE.replace('/', '-'),
                browser.eval(
                        "[...document.querySelectorAll('a.card h2')].map(e => e.textContent).find(t => t !== 'pool')"));
        assertEquals("SDFS console", browser.eval("document.title"));
        assertEquals(0, browser.eval("document.querySelectorAll('main img').length"));
    }

    private void opensTheVolume() throws Exception {
        browser.eval("document.querySelector('a.card[href=\"#/pool\"]').focus()");
        browser.press("Enter");
        browser.until(
                "document.querySelector('h1')?.textContent === 'pool' && document.querySelector('.tiles') !== null");
    }

    private void showsTheVolume() throws Exception {
        // Curves of the load, and what is on the SSD and why.
        browser.until("document.querySelectorAll('section[aria-label=\"Traffic\"] path.curve').length > 1");
        browser.until("document.querySelectorAll('section[aria-label=\"Response time of reads\"] path.curve')"
                + ".length > 0");
        String durations = "/99 %(memory|read ahead|SSD|disk)[1-9][0-9,]*[0-9.]+ [µm]s/.test("
                + text("Response time of reads") + ")";
        browser.until(durations);
        // Those since the mount.
        browser.eval("document.querySelectorAll('section[aria-label=\"Response time of reads\"] .choice button')[1]"
                + ".click()");
        assertEquals(true, browser.eval(durations));
        browser.until("/chunks on it[1-9]/.test(" + text("SSD") + ")");
        browser.until("/Promoted because.*(written twice|read)/.test(" + text("SSD") + ")");
        browser.until("/store.*not there yet.*sent[1-9].*requestsanswered/.test(" + text("Object store") + ")");
        browser.until("/No damage is known/.test(" + text("Damaged files") + ")");
    }

    private static String text(String section) {
        return "document.querySelector('section[aria-label=\"" + section + "\"]').textContent";
    }

    private void explainsFiles() throws Exception {
        TestWait.until(() -> Files.exists(volume.mountPoint().resolve("pair1-2")));
        explain("pair1-2");
        browser.until("/containers wanted[1-9]/.test(" + text("Explain a file") + ")");
        browser.until("/predicted from disk[0-9.]+ MB\\/s/.test(" + text("Explain a file") + ")");
        browser.until("document.querySelectorAll('.picture rect.disk').length > 0");
        shot("explain");
        explain(HOSTILE.replace('/', '-'));
        browser.until("/1.00 MiB/.test(" + text("Explain a file") + ")");
        explain("none");
        browser.until("/none is no file of the volume/.test(" + text("Explain a file") + ")");
        assertEquals(0, browser.eval("document.querySelectorAll('main img').length"));
    }

    private void explain(String path) throws Exception {
        browser.eval("document.getElementById('explain-path').focus()");
        browser.type(path);
        browser.press("Enter");
    }

    private void set(String name, String value) throws Exception {
        String id = "set-SelectivePromotion-" + name;
        browser.until("document.getElementById('" + id + "')?.focus() === undefined"
                + " && document.activeElement.id === '" + id + "'");
        browser.type(value);
        browser.press("Enter");
    }

    private void showsDemotionAfterAChange() throws Exception {
        browser.until("document.getElementById('set-SelectivePromotion-ReferenceCountThreshold')?.value === '2'");
        set("ReferenceCountThreshold", "10");
        browser.until("/reference count threshold is set/.test(" + text("Settings") + ")");
        browser.until("/demotion (runs|has ended): [1-9]/.test(" + text("Settings") + ")");
        assertEquals(10, threshold());
        browser.until("/Demoted because.*settings or request/.test(" + text("SSD") + ")");
    }

    private long threshold() throws Exception {
        return Json.number(Json.object(volume.json("sar", "status"), "parameters"), "referenceCountThreshold");
    }

    private void refusesWhatIsNotAllowed() throws Exception {
        set("ReferenceCountThreshold", "0");
        browser.until("/whole number, at least 1/.test(" + text("Settings") + ")");
        assertEquals(10, threshold());
    }

    private void stopsAJob() throws Exception {
        volume.run("scrub", "set", "--paused=true");
        String jobs = "document.querySelector('section[aria-label=\"Jobs\"]')";
        browser.until(jobs + ".querySelectorAll('button[data-type]:not([hidden])').length === 5");
        browser.eval(jobs + ".querySelector('button[data-type=\"Scrub\"]').click()");
        browser.until("[..." + jobs + ".querySelectorAll('.job')].some(e => /scrub/.test(e.textContent)"
                + " && !e.querySelector('progress').hidden)");
        browser.eval(jobs + ".querySelector('button[aria-label=\"Stop the scrub\"]').click()");
        browser.until("[..." + jobs + ".querySelectorAll('.job')].some(e => /scrub.*stopped/.test(e.textContent))");
        volume.run("scrub", "set", "--paused=false");
    }

    private void fitsEachScreen() throws Exception {
        shot("light");
        Object light = browser.eval("getComputedStyle(document.body).backgroundColor");
        browser.scheme("dark");
        assertNotEquals(light, browser.eval("getComputedStyle(document.body).backgroundColor"));
        shot("dark");
        browser.size(360, 740);
        browser.until("document.documentElement.scrollWidth <= innerWidth");
        shot("narrow");
        browser.size(1280, 900);
        browser.scheme("light");
    }

    private void isLabelled() throws Exception {
        assertEquals(
                List.of(),
                browser.eval("[...document.querySelectorAll('input, select')].filter(e => e.labels.length === 0)"
                        + ".map(e => e.outerHTML)"));
        assertEquals(
                List.of(),
                browser.eval("[...document.querySelectorAll('[role=img]')].filter(e => !e.getAttribute('aria-label'))"
                        + ".map(e => e.outerHTML.slice(0, 80))"));
        assertEquals(
                List.of(),
                browser.eval("[...document.querySelectorAll('button')].filter(e => !e.textContent.trim())"
                        + ".map(e => e.outerHTML)"));
    }

    private void aReaderMayNotChange() throws Exception {
        browser.eval("document.getElementById('logout').click()");
        browser.until("document.activeElement?.name === 'user'");
        browser.type("reader");
        browser.press("Tab");
        browser.type(users.add("reader", Role.READ));
        browser.press("Enter");
        browser.until("document.querySelectorAll('a.card').length === 2");
        opensTheVolume();
        browser.until("document.getElementById('set-SelectivePromotion-ReferenceCountThreshold')?.value === '10'");
        assertEquals(
                0, browser.eval("document.querySelectorAll('.setting :is(input, select, button):enabled').length"));
        assertEquals(0, browser.eval("document.querySelectorAll('button[data-type]').length"));
    }
}
