package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.sdfs.cli.command.ControlArguments;
import org.opendedup.sar.volume.HealPass;
import org.opendedup.sar.volume.VolumeHeal;

/** The daemon's side of {@code sdfscli VOLUME heal}. A pass goes on when the command that started it has ended. */
public final class HealControl {
    public static final String COMMAND = "heal";

    public static final String START = FileControl.START;
    public static final String STATUS = JobControl.STATUS;

    private final VolumeHeal heal;

    public HealControl(VolumeHeal heal) {
        this.heal = heal;
    }

    /** @throws IOException if the command fails; the message is for the client */
    public Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        String action = arguments.text("action");
        arguments.end();
        return switch (action) {
            case START -> report(heal.start());
            case STATUS -> report(heal.pass());
            default -> throw new IOException("the daemon knows no action '" + action + "' of " + COMMAND);
        };
    }

    private Map<String, Object> report(HealPass pass) {
        HealReport done = pass.report();
        var report = new LinkedHashMap<String, Object>();
        report.put("number", pass.number());
        report.put("running", pass.running());
        report.put("containers", done.containers());
        report.put("healedChunks", done.healedChunks());
        report.put("fromFrame", done.fromFrame());
        report.put("fromSsd", done.fromSsd());
        report.put("fromCopies", done.fromCopies());
        report.put("sound", done.sound());
        report.put("healedSinceMount", heal.healedChunks());
        report.put("unhealedChunks", heal.unhealedChunks());
        List<Object> unhealed = new ArrayList<>();
        for (HealReport.Unhealed each : done.unhealed()) {
            var one = new LinkedHashMap<String, Object>();
            one.put("container", each.container());
            one.put("firstSlot", each.firstSlot());
            one.put("chunks", each.chunks());
            one.put("reason", Printable.line(each.reason()));
            unhealed.add(one);
        }
        report.put("unhealed", unhealed);
        if (pass.failure() != null) {
            report.put("error", Printable.line(pass.failure()));
        }
        return report;
    }
}
