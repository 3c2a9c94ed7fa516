package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.SarText;
import org.opendedup.sar.sdfs.config.SarSettings;

/**
 * The common part of set and resize. If the volume is mounted, its daemon changes the parameters and the volume file;
 * otherwise only the file is changed.
 *
 * @param json whether the result is printed as JSON
 * @param untilDemoted whether to wait for the demotion that follows
 */
record ParameterChange(SarCommand sar, boolean json, boolean untilDemoted) {

    void run(Map<String, Object> changes) throws IOException, CommandFailedException, InterruptedException {
        var reply = sar.tryAsk(SarControl.SET, Map.of("changes", changes));
        if (reply.isEmpty()) {
            changeFile(changes);
            return;
        }
        var result = new LinkedHashMap<String, Object>(reply.get());
        if (untilDemoted) {
            result.put("status", SarWait.forSweep(sar));
        }
        report(result, remark(String.valueOf(Json.object(result, "status").get("state"))));
    }

    private String remark(String state) {
        return switch (state) {
            case "none" -> "The volume has no SSD: takes effect when it has one.";
            case "detached", "failed" ->
                "The SSD is " + state + ": chunks that no longer qualify are demoted when it is attached.";
            default ->
                untilDemoted
                        ? "Chunks that no longer qualified are demoted."
                        : "Chunks that no longer qualify are being demoted in the background; see sdfscli "
                                + sar.cli().name() + " sar status.";
        };
    }

    private void changeFile(Map<String, Object> changes) throws IOException, CommandFailedException {
        var before = new LinkedHashMap<String, Object>();
        var after = new LinkedHashMap<String, Object>();
        new UnmountedVolume(sar.cli()).change(definition -> {
            var settings = definition.sar();
            before.putAll(SarSettings.parameters(settings.tier()));
            var changed = settings.with(changes);
            after.putAll(SarSettings.parameters(changed.tier()));
            return definition.withSar(changed);
        });
        report(Map.of("before", before, "after", after), "Not mounted: takes effect at the next mount.");
    }

    private void report(Map<String, Object> reply, String remark) {
        String text = SarText.changes(Json.object(reply, "before"), Json.object(reply, "after"));
        boolean changed = !text.isEmpty();
        sar.print(
                json,
                reply,
                changed ? (text + remark).strip() : "Nothing changed: the parameters already have these values.");
    }
}
