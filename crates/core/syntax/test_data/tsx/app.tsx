import { Suspense, lazy } from 'react';
import { Routes, Route } from 'react-router-dom';
import { useAuth, AuthProvider } from '@/auth';

const Settings = lazy(() => import('./Settings'));

export enum Page {
  Home = '/',
  Settings = '/settings',
}

type RouteProps = {
  page: Page;
  guard?: Guard;
};

class Boundary extends React.Component<BoundaryProps, State> {
  state: State = { failed: false };

  static getDerivedStateFromError(error: Error): State {
    report(error);
    return { failed: true };
  }

  render() {
    return this.state.failed ? <Failure retry={this.retry} /> : this.props.children;
  }

  private retry = (): void => this.setState({ failed: false });
}

function Protected({ page, guard = defaultGuard }: RouteProps) {
  const { user } = useAuth();
  if (!guard.allows(user as User)) {
    return <Navigate to={Page.Home} />;
  }
  return <Boundary><Settings /></Boundary>;
}

const defaultGuard = new RoleGuard('admin');

export function App(): JSX.Element {
  return (
    <AuthProvider client={createClient<AuthApi>(config)}>
      <Suspense fallback={<Spinner />}>
        <Routes>
          <Route path={Page.Settings} element={<Protected page={Page.Settings} />} />
        </Routes>
      </Suspense>
    </AuthProvider>
  );
}

@observer
export class Toolbar extends React.Component<{ user?: User }> {
  static defaultProps: Partial<ToolbarProps> = {};

  @action.bound
  toggle(event: React.MouseEvent): void {
    event.preventDefault();
    this.props.store.toggle(Page.Home);
  }

  @computed get label(): string {
    return translate(`toolbar.${this.props.user!.name}`);
  }

  render() {
    return <button type="button" onClick={this.toggle}>{this.label}</button>;
  }
}

export type { RouteProps };
export { Protected as default, Boundary };
