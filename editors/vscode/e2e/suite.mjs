// All scenarios in one process, so that they share one server and one browser.
import { play } from './stage.mjs';
import './scenarios/servers.mjs';
import './scenarios/views.mjs';
import './scenarios/adding.mjs';
import './scenarios/cancel.mjs';
import './scenarios/questions.mjs';
import './scenarios/reload.mjs';
import './scenarios/together.mjs';
import './scenarios/hidden.mjs';
import './scenarios/seen.mjs';
import './scenarios/looks.mjs';
import './scenarios/api.mjs';
import './scenarios/chat.mjs';
import './scenarios/example.mjs';
import './scenarios/death.mjs';
import './scenarios/silence.mjs';
import './scenarios/trust.mjs';
import './scenarios/secrets.mjs';
import './scenarios/urls.mjs';
import './scenarios/sampling.mjs';
import './scenarios/commands.mjs';
import './scenarios/browse.mjs';
import './scenarios/folders.mjs';
import './scenarios/begin.mjs';
import './scenarios/lenses.mjs';
import './scenarios/settings.mjs';

play();
